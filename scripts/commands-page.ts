import { format } from 'prettier';
import { anchorOf } from '../src/cli/code-entries.js';
import { helpDocument, type HelpDocument, type OptionDocument } from '../src/cli/help-document.js';
import { COMMANDS } from '../src/cli/command-table.js';

/** The page that says what commands there are, from the root of the project. */
export const COMMANDS_FILE = 'docs/commands.md';

const INTRODUCTION = `# Commands

Every command with its arguments and options. Read it when you know what you want to do and look for the option;
[How to](how-to.md) has recipes instead. [operations.md](operations.md) explains exit codes and environment variables.
\`npm run generate\` writes this page from the program's declarations.
`;

const FOR_PROGRAMS = `## For programs

\`flagkeel --help --format json\` prints the commands, exit codes and environment variables as one JSON document.
\`flagkeel state list --help --format json\` does so for one command: its arguments and options with type, choices and
default, the commands below it, examples, exit codes, environment variables, and pages that say more.
[\`schemas/help.schema.json\`](../schemas/help.schema.json) describes it. While \`formatVersion\` is 1, members may be
added, and none goes or changes its meaning. An unknown command is exit code 64.

\`\`\`sh
flagkeel plan --help --format json | jq -r '.options[] | select(.value.type == "duration") | .name'
\`\`\`
`;

/** Text of the page. Equal declarations give equal text. */
export async function commandsPage(): Promise<string> {
  const names = Object.keys(COMMANDS).map((name) => [name]);
  const sections = await Promise.all(names.map(async (path) => sectionOf(path)));
  const lines = await Promise.all(names.map(async (path) => lineOf(path)));
  const overview = ['| command | does |', '| --- | --- |', ...lines, ''].join('\n');
  return format([INTRODUCTION, overview, ...sections, FOR_PROGRAMS].join('\n'), {
    parser: 'markdown',
    printWidth: 100,
  });
}

async function helpOf(path: readonly string[]): Promise<HelpDocument> {
  const help = await helpDocument(COMMANDS, path);
  if (!help) throw new Error(`there is no command ${path.join(' ')}`);
  return help;
}

async function lineOf(path: readonly string[]): Promise<string> {
  const { name, summary } = await helpOf(path);
  return `| [\`${name}\`](#${anchorOf(name)}) | ${summary} |`;
}

async function sectionOf(path: readonly string[]): Promise<string> {
  const help = await helpOf(path);
  const below = await Promise.all(
    help.commands.map(async ({ name }) => sectionOf([...path, name])),
  );
  const { summary, examples, links } = help;
  const [page = ''] = links;
  const more = path.length > 1 ? [] : [`More: [${page}](${page.replace('docs/', '')}).`];
  const shown = examples.length === 0 ? [] : ['```sh', ...examples, '```'];
  return [
    `${'#'.repeat(path.length + 1)} ${help.name}`,
    `${capital(summary)}. ${more.join('')}`,
    `\`${help.name} ${help.usage}\``,
    shown.join('\n'),
    tableOf(help),
    `Exit codes: ${help.exitCodes.map(({ code }) => code).join(', ')}.`,
    ...below,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function tableOf(help: HelpDocument): string {
  const rows = [
    ...help.arguments.map((each) => [`\`${each.name}\``, takes(each), each.description]),
    ...help.options.map((each) => [
      `\`${flagsOf(each)}\``,
      takes(each) + (each.required ? ', required' : ''),
      each.description,
    ]),
  ];
  const lines = rows.map(
    (cells) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return rows.length === 0
    ? ''
    : ['| name | takes | means |', '| --- | --- | --- |', ...lines].join('\n');
}

function flagsOf({ short, name, value }: OptionDocument): string {
  const shown = short === null ? name : `${short}, ${name}`;
  return value === null ? shown : `${shown} <${value.name}>`;
}

function takes({
  choices,
  default: usual,
  ...each
}: Pick<OptionDocument, 'choices' | 'default'> & {
  readonly type?: string;
  readonly value?: OptionDocument['value'];
}): string {
  const type = each.type ?? each.value?.type ?? '';
  const what = choices?.map((word) => `\`${word}\``).join(', ') ?? type;
  const text = [usual].flat().join(' ');
  return text !== '' ? `${what} (default \`${text}\`)` : what;
}
