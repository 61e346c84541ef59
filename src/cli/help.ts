import { Help, type Command, type HelpConfiguration, type Option } from 'commander';

/** Rows of a terminal. A longer help leaves out what `SELDOM` names. */
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

/** Sets the command lines that the help shows before the options. */
export function examples(command: Command, lines: readonly string[]): void {
  EXAMPLES.set(command, lines);
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/**
 * The layout of every help: examples before options, and no more than a screen.
 *
 * @param isWhole whether it may be longer: the command line has `--all`.
 * @param termOf a command as a list of commands names it.
 */
export function helpLayout(
  isWhole: boolean,
  termOf: (command: Command) => string,
): HelpConfiguration {
  let isShort = false;
  const isShown = (name: string): boolean => !isShort || !SELDOM.has(name);
  const plain = new Help();
  return {
    showGlobalOptions: isWhole,
    commandDescription: (command) => [command.description(), ...exampleLines(command)].join('\n'),
    visibleOptions: (command) =>
      plain.visibleOptions(command).filter((each) => isShown(nameOf(each))),
    visibleCommands: (command) =>
      plain.visibleCommands(command).filter((each) => isShown(each.name())),
    optionDescription: (option) => plainly(plain.optionDescription(option)),
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

/** Choices and defaults as a person types them. */
function plainly(description: string): string {
  return description
    .replace(/ ?\(default: \[\]\)/, '')
    .replace('(choices: ', '(')
    .replaceAll(/\["(.*)"\]|"([^" ]+)"/g, '$1$2');
}

function countOf(command: Command, helper: Help): number {
  return helper.visibleOptions(command).length + helper.visibleCommands(command).length;
}

function nameOf(option: Option): string {
  return option.long ?? option.flags;
}

/** As the command is called: `flagkeel state list`. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
