import { Command, Help, type HelpConfiguration } from 'commander';
import type { ExitCode } from '../errors.js';
import { packageVersion } from '../platform/package-files.js';
import type { Outside, Terminal } from './terminal.js';

export type RunCommand = (args: readonly string[], outside: Outside) => Promise<ExitCode>;

export interface Invocation {
  readonly terminal: Terminal;
  /** Takes the exit code of the process. A command that never calls it ends with 0. */
  readonly done: (code: ExitCode) => void;
  /** For a command that runs others; absent where commands are only declared. */
  readonly run?: RunCommand;
  readonly hasWholeHelp?: boolean;
}

/** Gives a command its arguments, options and action. The program prints a `FlagkeelError` that the action throws. */
export type DeclareCommand = (command: Command, invocation: Invocation) => void;

interface CommandRow {
  /** Its options and arguments, as the list of commands shows them. */
  readonly usage: string;
  /** What the command does, in one line: its description in every help text. */
  readonly summary: string;
  readonly group: string;
  /** The page of `docs/` that says most of it, without its ending. */
  readonly page: string;
  readonly examples?: readonly string[];
  /** Whether it asks a service, a forge or git's `origin`, as far as its options tell. Default: never, or it is a daemon. */
  readonly asks?: (has: (option: string) => boolean) => boolean;
  /** Imports the file of the command, which only a command line that names the command needs. */
  readonly load: () => Promise<DeclareCommand>;
}

export type CommandTable = Readonly<Record<string, CommandRow>>;

const PROGRAM_EXAMPLES = ['flagkeel init --example shop', 'flagkeel plan --embedded shop'];

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

const SCREEN_ROWS = 40;

/** Options and commands that most runs go without. Only `--help --all` lists them where there are more than fit. */
export const SELDOM: ReadonlySet<string> = new Set(
  `--help --auth-header --embedded-dir --timeout --concurrency --lock-timeout --exclude --tag --owner
  --log-format --no-color --show-keys --quiet --events --at --identities --touched --every-key --count-keys
  --plan-hash --since --title --comment --kills --force --override-window --approve-comment --commit-statuses
  --allow-older --allow-dirty --allow-held --forge --forge-url --repository --pull-request
  --target --commit --plan-url --sarif --junit --branch --path --jitter --debounce --lease --database
  --allow-host --private --webhook-secret-file --notify-file --notify-template --public-url
  --unmanaged --no-console --requests-expire --log-expires
  find-usage stale mcp schema manifest completion`.split(/\s+/),
);

const EXAMPLES = new WeakMap<Command, readonly string[]>();

export function examples(command: Command, lines: readonly string[]): void {
  EXAMPLES.set(command, lines);
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/** Examples come before options, and a help takes no more than a screen, unless the command line has `--all`. */
export function helpLayout(
  isWhole: boolean,
  termOf: (command: Command) => string,
): HelpConfiguration {
  let isShort = false;
  const isShown = (name: string): boolean => !isShort || !SELDOM.has(name);
  const plain = new Help();
  return {
    commandDescription: (command) => [command.description(), ...exampleLines(command)].join('\n'),
    visibleOptions: (command) =>
      plain.visibleOptions(command).filter((each) => isShown(each.long ?? each.flags)),
    visibleCommands: (command) =>
      plain.visibleCommands(command).filter((each) => isShown(each.name())),
    optionDescription: (option) =>
      plainly(plain.optionDescription(option)) + (option.mandatory ? ' (required)' : ''),
    argumentDescription: (argument) => plainly(plain.argumentDescription(argument)),
    subcommandTerm: (command) => (isShort ? command.name() : termOf(command)),
    formatHelp: (command, helper) => {
      const format = (): string => Help.prototype.formatHelp.call(helper, command, helper);
      isShort = false;
      const whole = format();
      if (isWhole || whole.split('\n').length <= SCREEN_ROWS) return whole;
      const all = countOf(command, helper);
      isShort = true;
      const left = all - countOf(command, helper);
      return `${format()}\n${String(left)} more with: ${pathOf(command)} --help --all\n`;
    },
  };
}

function exampleLines(command: Command): string[] {
  const lines = examplesOf(command);
  if (lines.length === 0) return [];
  return ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines.map((line) => `  ${line}`)];
}

function plainly(description: string): string {
  return description
    .replace(/ ?\(default: \[\]\)/, '')
    .replace('(choices: ', '(')
    .replaceAll(/\["(.*)"\]|"([^" ]+)"/g, '$1$2');
}

function countOf(command: Command, helper: Help): number {
  return helper.visibleOptions(command).length + helper.visibleCommands(command).length;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
