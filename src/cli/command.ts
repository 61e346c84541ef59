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

/** Gives a command its arguments, options and action. The program prints a `FlagkeelError` that the action throws. */
export type DeclareCommand = (command: Command, invocation: Invocation) => void;

/** All that `flagkeel --help` says of a command, and where the rest is. */
interface CommandRow {
  /** Its options and arguments, as the list of commands shows them. */
  readonly usage: string;
  /** What the command does, in one line: its description in every help text. */
  readonly summary: string;
  /** Heading of the list that `flagkeel --help` has it in. */
  readonly group: string;
  /** The page of `docs/` that says most of it, without its ending. */
  readonly page: string;
  /** Command lines that the help shows before the options. */
  readonly examples?: readonly string[];
  /** Whether it asks a service, a forge or git's `origin`, as far as its options tell. Default: never, or it is a daemon. */
  readonly asks?: (has: (option: string) => boolean) => boolean;
  /** Imports the file of the command, which only a command line that names the command needs. */
  readonly load: () => Promise<DeclareCommand>;
}

/** The commands by name, in the order of `flagkeel --help`. */
export type CommandTable = Readonly<Record<string, CommandRow>>;

/** From nothing to a first plan. */
const PROGRAM_EXAMPLES = ['flagkeel init --example shop', 'flagkeel plan --embedded shop'];

/** Makes the parser of the command line, which loads the options of a command when the command line calls it. */
export function createProgram(commands: CommandTable, invocation: Invocation): Command {
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
  for (const [name, { summary, group, examples: lines = [] }] of Object.entries(commands)) {
    examples(program.command(name).description(summary).helpGroup(group), lines);
  }
  examples(program, PROGRAM_EXAMPLES);
  // Commander awaits this hook before it parses what stands behind the name of a command.
  return program.hook('preSubcommand', async (_, command) => {
    const declare = await commands[command.name()]?.load();
    declare?.(command, invocation);
  });

  /** A command whose file is not loaded has no arguments yet, so its row says them. */
  function listed(command: Command): string {
    const row = command.parent === program ? commands[command.name()] : undefined;
    return row ? `${command.name()} ${row.usage}`.trim() : new Help().subcommandTerm(command);
  }
}
