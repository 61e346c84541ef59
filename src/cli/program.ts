import { CommanderError } from 'commander';
import { createProgram } from './command.js';
import { COMMANDS } from './command-table.js';
import { terminalFor, type Outside } from './terminal.js';
import { EXIT, type ExitCode } from '../errors.js';

/** Verbs of other tools, and their names here. */
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

/** Imports the file of the called command alone. @throws FlagkeelError what the command could not do. */
export async function runCli(args: readonly string[], outside: Outside): Promise<ExitCode> {
  const [name = ''] = args;
  const meant = ELSEWHERE.get(name);
  if (meant !== undefined) {
    outside.stderr.write(`error: there is no command '${name}'; here it is flagkeel ${meant}\n`);
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
  const has = (option: string): boolean =>
    own.some((word) => word === option || word.startsWith(`${option}=`));
  return COMMANDS[own[0] ?? '']?.asks?.(has) === true;
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
