import { CommanderError } from 'commander';
import { createProgram, type CommandRow } from './command.js';
import { terminalFor, type Outside } from './terminal.js';
import { EXIT, type ExitCode } from '../errors.js';

/** Every command, in the order of `flagkeel --help`. */
export const COMMANDS: readonly CommandRow[] = [
  {
    synopsis: 'init [options] [directory]',
    summary: 'write a config repository to begin with; existing files stay',
    group: 'Begin:',
    page: 'getting-started',
    load: async () => (await import('./commands/init.js')).declareInit,
  },
  {
    synopsis: 'import [options] [directory] [target]',
    summary: 'write what is live, or the file of another tool, as specs',
    group: 'Begin:',
    page: 'import',
    asks: (has) => !has('--from'),
    load: async () => (await import('./commands/import.js')).declareImport,
  },
  {
    synopsis: 'validate [options] [directory...]',
    summary: 'read and check specs offline; all problems at once',
    group: 'Write specs:',
    page: 'specs',
    asks: (has) => has('--online'),
    load: async () => (await import('./commands/validate.js')).declareValidate,
  },
  {
    synopsis: 'test [options] [directory...]',
    summary: 'run the expectations of tests/ against the specs, offline',
    group: 'Write specs:',
    page: 'specs',
    load: async () => (await import('./commands/test.js')).declareTest,
  },
  {
    synopsis: 'fmt [options] [directory...]',
    summary: 'quote what other tools misread, and sort sets',
    group: 'Write specs:',
    page: 'specs',
    load: async () => (await import('./commands/fmt.js')).declareFmt,
  },
  {
    synopsis: 'explain [options] <object> [directory]',
    summary: 'say who gets which treatment and why, or what a code means',
    group: 'Write specs:',
    page: 'diagnostics',
    asks: (has) => has('--online'),
    load: async () => (await import('./commands/explain.js')).declareExplain,
  },
  {
    synopsis: 'find-usage [options] <object> [directory]',
    summary: 'find the places that name a flag or segment, in specs and code',
    group: 'Write specs:',
    page: 'how-to',
    load: async () => (await import('./commands/find-usage.js')).declareFindUsage,
  },
  {
    synopsis: 'stale [options] [directory]',
    summary: 'flags that are past their day or long the same; exit 2 if there are any',
    group: 'Write specs:',
    page: 'lint',
    asks: (has) => has('--online') || has('--propose'),
    load: async () => (await import('./commands/stale.js')).declareStale,
  },
  {
    synopsis: 'report [options] [directory]',
    summary: 'write a catalogue of all flags and segments, as HTML or JSON',
    group: 'Write specs:',
    page: 'how-to',
    load: async () => (await import('./commands/report.js')).declareReport,
  },
  {
    synopsis: 'promote [options] [flag-or-directory...]',
    summary: 'copy a flag from its block of one environment into another',
    group: 'Write specs:',
    page: 'specs',
    load: async () => (await import('./commands/promote.js')).declarePromote,
  },
  {
    synopsis: 'plan [options] [directory...]',
    summary: 'show what would change, why, and whom it reaches',
    group: 'Plan and apply:',
    page: 'plan',
    asks: () => true,
    load: async () => (await import('./commands/reconcile.js')).declareReconcile,
  },
  {
    synopsis: 'reconcile [options] [directory...]',
    summary: 'plan, apply, verify',
    group: 'Plan and apply:',
    page: 'plan',
    asks: () => true,
    load: async () => (await import('./commands/reconcile.js')).declareReconcile,
  },
  {
    synopsis: 'review [options] [directory...]',
    summary: 'comment on a pull request what its merge would do; only reads',
    group: 'Plan and apply:',
    page: 'review',
    asks: () => true,
    load: async () => (await import('./commands/review.js')).declareReview,
  },
  {
    synopsis: 'drift [options] [directory...]',
    summary: 'show what is live and not in git; exit 2 if there is anything',
    group: 'Plan and apply:',
    page: 'import',
    asks: () => true,
    load: async () => (await import('./commands/drift.js')).declareDrift,
  },
  {
    synopsis: 'watch [options] [directory]',
    summary: 'the daemon: apply each commit of its sources, and look for drift',
    group: 'Plan and apply:',
    page: 'watch',
    load: async () => (await import('./commands/watch.js')).declareWatch,
  },
  {
    synopsis: 'kill [options] <flag> [directory]',
    summary: 'kill a flag at once, and prepare the commit for git',
    group: 'In an incident:',
    page: 'operations',
    asks: () => true,
    load: async () => (await import('./commands/kill.js')).declareKill,
  },
  {
    synopsis: 'restore [options] <flag> [directory]',
    summary: 'take a kill back at once, and prepare the commit for git',
    group: 'In an incident:',
    page: 'operations',
    asks: () => true,
    load: async () => (await import('./commands/kill.js')).declareKill,
  },
  {
    synopsis: 'history [options] [object-or-directory...]',
    summary: 'list what was written, newest first',
    group: 'In an incident:',
    page: 'state',
    asks: () => true,
    load: async () => (await import('./commands/history.js')).declareHistory,
  },
  {
    synopsis: 'state',
    summary: 'look at what runs remember, forget it, or rebuild it',
    group: 'Run and connect:',
    page: 'state',
    asks: () => true,
    load: async () => (await import('./commands/state.js')).declareState,
  },
  {
    synopsis: 'service [options]',
    summary: 'run the administration service itself',
    group: 'Run and connect:',
    page: 'service',
    load: async () => (await import('./commands/service/service.js')).declareService,
  },
  {
    synopsis: 'mcp [options] [directory]',
    summary: 'serve plan, impact, history and specs to agents over MCP; only reads',
    group: 'Run and connect:',
    page: 'mcp',
    load: async () => (await import('./mcp.js')).declareMcp,
  },
  {
    synopsis: 'schema [options] [name]',
    summary: 'print the JSON Schema of a kind of file, for editors',
    group: 'Run and connect:',
    page: 'how-to',
    load: async () => (await import('./commands/schema.js')).declareSchema,
  },
  {
    synopsis: 'manifest [options] [directory]',
    summary: 'write an OpenFeature manifest, from which typed clients are made',
    group: 'Run and connect:',
    page: 'how-to',
    load: async () => (await import('./commands/manifest.js')).declareManifest,
  },
  {
    synopsis: 'completion <shell>',
    summary: 'print a completion script for bash, zsh, fish or PowerShell',
    group: 'Run and connect:',
    page: 'getting-started',
    load: async () => (await import('./commands/completion.js')).declareCompletion,
  },
];

/** Verbs of neighbours, and what they are called here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['apply', 'reconcile'],
  ['sync', 'reconcile'],
  ['deploy', 'reconcile'],
  ['diff', 'plan'],
  ['preview', 'plan'],
  ['lint', 'validate'],
  ['check', 'validate'],
  ['format', 'fmt'],
  ['evaluate', 'explain'],
  ['render', 'explain'],
  ['pull', 'import'],
  ['dump', 'import'],
  ['serve', 'service'],
]);

/**
 * Parses the command line and runs the command that it names. Only the file of that command is imported: `--version`
 * and `--help` of the program load none. May be called again in the same process.
 *
 * @param args without the interpreter and the script.
 * @returns the exit code of the process: that of the command, or 64 for a command line that cannot be understood, which
 *   was then explained on standard error.
 * @throws FlagkeelError what the command could not do; its `exitCode` is that of the process.
 */
export async function runCli(args: readonly string[], outside: Outside): Promise<ExitCode> {
  const meant = ELSEWHERE.get(args[0] ?? '');
  if (meant !== undefined) {
    outside.stderr.write(
      `error: there is no command '${args[0] ?? ''}'; here it is flagkeel ${meant}\n`,
    );
    return EXIT.usage;
  }
  // What stands behind `--` is data.
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const asksForHelp = own.includes('--help') || own.includes('-h');
  if (asksForHelp && /(?:^| )--format[ =]json(?: |$)/.test(own.join(' '))) {
    return printHelpDocument(args, outside);
  }
  const terminal = terminalFor(own, outside);
  using progress = terminal.progress;
  if (!asksForHelp && asks(own)) progress.begin(outside.startedAt);
  let exitCode: ExitCode = EXIT.ok;
  const done = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    const invocation = { terminal, done, run: runCli, hasWholeHelp: args.includes('--all') };
    await createProgram(COMMANDS, invocation).parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

function asks(own: readonly string[]): boolean {
  const row = COMMANDS.find(({ synopsis }) => synopsis.split(' ', 1)[0] === own[0]);
  const has = (option: string): boolean =>
    own.some((word) => word === option || word.startsWith(`${option}=`));
  return row?.asks?.(has) === true;
}

async function printHelpDocument(args: readonly string[], outside: Outside): Promise<ExitCode> {
  const { helpDocument } = await import('./help-document.js');
  const document = await helpDocument(COMMANDS, args);
  if (document === undefined) {
    outside.stderr.write(`error: unknown command '${args[0] ?? ''}'\n`);
    return EXIT.usage;
  }
  outside.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  return EXIT.ok;
}
