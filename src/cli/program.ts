import { CommanderError } from 'commander';
import { createProgram, type CommandRow } from './command.js';
import type { Terminal } from './terminal.js';
import { EXIT, type ExitCode } from '../errors.js';

/** Every command, in the order of `flagkeel --help`. */
export const COMMANDS: readonly CommandRow[] = [
  {
    synopsis: 'init [options] [directory]',
    summary: 'write a config repository to begin with; files that are there stay',
    page: 'getting-started',
    load: async () => (await import('./commands/init.js')).declareInit,
  },
  {
    synopsis: 'validate [options] [directory...]',
    summary: 'read and check specs offline; all problems at once',
    page: 'specs',
    load: async () => (await import('./commands/validate.js')).declareValidate,
  },
  {
    synopsis: 'test [options] [directory...]',
    summary: 'run the expectations of tests/ against the specs, offline',
    page: 'specs',
    load: async () => (await import('./commands/test.js')).declareTest,
  },
  {
    synopsis: 'fmt [options] [directory...]',
    summary: 'quote what other tools misread, sort sets; with --check say what would change',
    page: 'specs',
    load: async () => (await import('./commands/fmt.js')).declareFmt,
  },
  {
    synopsis: 'explain [options] <object> [directory]',
    summary: 'who gets what of a flag, by which rule, and where; or what a code means',
    page: 'diagnostics',
    load: async () => (await import('./commands/explain.js')).declareExplain,
  },
  {
    synopsis: 'find-usage [options] <object> [directory]',
    summary: 'where a flag or segment is named, in the specs and in code',
    page: 'how-to',
    load: async () => (await import('./commands/find-usage.js')).declareFindUsage,
  },
  {
    synopsis: 'stale [options] [directory]',
    summary: 'flags past their day, or that give everybody the same for long; exit 2 when any is',
    page: 'lint',
    load: async () => (await import('./commands/stale.js')).declareStale,
  },
  {
    synopsis: 'report [options] [directory]',
    summary: 'a catalogue of all flags and segments as one HTML page, or as JSON',
    page: 'how-to',
    load: async () => (await import('./commands/report.js')).declareReport,
  },
  {
    synopsis: 'promote [options] <object> [directory]',
    summary: 'write what a flag is in one environment into its block of another',
    page: 'specs',
    load: async () => (await import('./commands/promote.js')).declarePromote,
  },
  {
    synopsis: 'plan [options] [directory...]',
    summary: 'another name of reconcile --dry-run',
    page: 'plan',
    load: async () => (await import('./commands/reconcile.js')).declareReconcile,
  },
  {
    synopsis: 'reconcile [options] [directory...]',
    summary: 'plan, apply, verify; with --dry-run the plan alone',
    page: 'plan',
    load: async () => (await import('./commands/reconcile.js')).declareReconcile,
  },
  {
    synopsis: 'review [options] [directory...]',
    summary: 'what a merge would do, told to the pull request; writes nothing to the service',
    page: 'review',
    load: async () => (await import('./commands/review.js')).declareReview,
  },
  {
    synopsis: 'import [options] [directory] [target]',
    summary: 'write what is live, or what a file of another tool says, as specs',
    page: 'import',
    load: async () => (await import('./commands/import.js')).declareImport,
  },
  {
    synopsis: 'drift [options] [directory...]',
    summary: 'what is live and not in git; exit 2 when anything is',
    page: 'import',
    load: async () => (await import('./commands/drift.js')).declareDrift,
  },
  {
    synopsis: 'state',
    summary: 'what runs remember: look, forget, rebuild',
    page: 'state',
    load: async () => (await import('./commands/state.js')).declareState,
  },
  {
    synopsis: 'history [options] [object-or-directory...]',
    summary: 'what was written, newest first',
    page: 'state',
    load: async () => (await import('./commands/history.js')).declareHistory,
  },
  {
    synopsis: 'kill [options] <flag> [directory]',
    summary: 'kill a flag at once, and prepare the commit that makes git agree',
    page: 'operations',
    load: async () => (await import('./commands/kill.js')).declareKill,
  },
  {
    synopsis: 'restore [options] <flag> [directory]',
    summary: 'take a kill back at once, and prepare the commit that makes git agree',
    page: 'operations',
    load: async () => (await import('./commands/kill.js')).declareKill,
  },
  {
    synopsis: 'watch [options] [directory]',
    summary: 'apply each commit of a directory, a branch, or many of them, and look for drift',
    page: 'watch',
    load: async () => (await import('./commands/watch.js')).declareWatch,
  },
  {
    synopsis: 'service [options]',
    summary: 'run the administration service itself',
    page: 'service',
    load: async () => (await import('./commands/service/service.js')).declareService,
  },
  {
    synopsis: 'mcp [options] [directory]',
    summary: 'serve plan, impact, history and specs to agents over MCP; only reads',
    page: 'mcp',
    load: async () => (await import('./mcp.js')).declareMcp,
  },
  {
    synopsis: 'schema [options] [name]',
    summary: 'the JSON Schema of a kind of file, for editors; without a name the list of them',
    page: 'how-to',
    load: async () => (await import('./commands/schema.js')).declareSchema,
  },
  {
    synopsis: 'completion <shell>',
    summary: 'a script that completes commands and options in bash, zsh, fish or PowerShell',
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
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const meant = ELSEWHERE.get(args[0] ?? '');
  if (meant !== undefined) {
    terminal.stderr.write(
      `error: there is no command '${args[0] ?? ''}'; here it is flagkeel ${meant}\n`,
    );
    return EXIT.usage;
  }
  if (asksForDocument(args)) return printHelpDocument(args, terminal);
  let exitCode: ExitCode = EXIT.ok;
  const done = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    await createProgram(COMMANDS, { terminal, done, run: runCli }).parseAsync([...args], {
      from: 'user',
    });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** Whether the command line asks what it could say, for programs. What stands behind `--` is data. */
function asksForDocument(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const asksForHelp = own.includes('--help') || own.includes('-h');
  return asksForHelp && /(?:^| )--format[ =]json(?: |$)/.test(own.join(' '));
}

async function printHelpDocument(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { helpDocument } = await import('./help-document.js');
  const document = await helpDocument(COMMANDS, args);
  if (document === undefined) {
    terminal.stderr.write(`error: unknown command '${args[0] ?? ''}'\n`);
    return EXIT.usage;
  }
  terminal.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  return EXIT.ok;
}
