import { Command, Help } from 'commander';
import type { ExitCode } from '../errors.js';
import { packageVersion } from '../platform/version.js';
import { examples, helpLayout } from './help.js';
import type { Outside, Terminal } from './terminal.js';

/** Runs a command line, without the interpreter and the script, as `runCli` does. */
export type RunCommand = (args: readonly string[], outside: Outside) => Promise<ExitCode>;

export interface Invocation {
  readonly terminal: Terminal;
  /** Takes the exit code of the process. A command that never calls it ends with 0. */
  readonly done: (code: ExitCode) => void;
  /** For a command that runs others; absent where commands are only declared. */
  readonly run?: RunCommand;
  /** The help leaves nothing out. */
  readonly hasWholeHelp?: boolean;
}

/**
 * What a file of `commands/` exports: it gives a command, which has its name and its description already, arguments,
 * options and an action. The action may throw a `FlagkeelError`: the program prints the error and exits
 * with its code.
 */
export type DeclareCommand = (command: Command, invocation: Invocation) => void;

/** One row of the table of commands: all that `flagkeel --help` says, and where the rest is. */
export interface CommandRow {
  /** How `flagkeel --help` writes the command: its name, then its options and arguments. */
  readonly synopsis: string;
  /** What the command does, in one line: its description in every help text. */
  readonly summary: string;
  /** Heading of the list that `flagkeel --help` has it in. */
  readonly group: string;
  /** The page of `docs/` that says most of it, without its ending. */
  readonly page: string;
  /** Whether it asks a service, a forge or git's `origin`, as far as its options tell. Absent: never, or it is a daemon. */
  readonly asks?: (has: (option: string) => boolean) => boolean;
  /** Imports the file of the command. It is called only where the command line names the command. */
  readonly load: () => Promise<DeclareCommand>;
}

/** From nothing to a first plan. */
const PROGRAM_EXAMPLES = ['flagkeel init --example shop', 'flagkeel plan --embedded shop'];

/**
 * Makes the parser of the command line. It knows the name and the summary of every command, and loads the rest of a
 * command when the command line calls it.
 */
export function createProgram(commands: readonly CommandRow[], invocation: Invocation): Command {
  const rows = new Map(commands.map((row) => [row.synopsis.split(' ', 1)[0] ?? '', row]));
  const { stdout, stderr, progress } = invocation.terminal;
  const program = new Command('flagkeel')
    .description('Feature flags in git: reviewed as pull requests, applied in a safe order.')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .configureHelp(helpLayout(invocation.hasWholeHelp === true, listed))
    .showHelpAfterError('(flagkeel --help lists the commands)')
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => {
        progress.print(() => stderr.write(text));
      },
    })
    // Commands copy these settings when they are added, so the settings have to come first.
    .exitOverride();
  for (const [name, { summary, group }] of rows) {
    program.command(name).description(summary).helpGroup(group);
  }
  examples(program, PROGRAM_EXAMPLES);
  // Commander awaits this hook before it parses what stands behind the name of a command.
  return program.hook('preSubcommand', async (_, command) => {
    const declare = await rows.get(command.name())?.load();
    declare?.(command, invocation);
  });

  /** A command whose file is not loaded knows no arguments yet, which is why its row tells them. */
  function listed(command: Command): string {
    const row = command.parent === program ? rows.get(command.name()) : undefined;
    return row?.synopsis ?? new Help().subcommandTerm(command);
  }
}
