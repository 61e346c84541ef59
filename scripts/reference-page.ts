import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';

/** The page that says what fields there are, from the root of the project. */
export const REFERENCE_FILE = 'docs/reference.md';

const FOLDER = join(import.meta.dirname, '../schemas');

/** The files of a config repository, and what a reader calls each. */
const KINDS = {
  config: 'flagkeel.yaml',
  flag: 'A flag',
  'flag-overlay': 'An overlay',
  segment: 'A segment',
  identities: 'Identities',
  kills: 'Kills',
  'spec-test': 'A spec test',
} as const;

type Kind = keyof typeof KINDS;

interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly 'x-expected'?: string;
}

const INTRODUCTION = `# Fields

Look here for one field: its values, its default and its meaning. [specs.md](specs.md) shows with examples how fields
work together. A field in **bold** is required. \`<name>\` stands for a name of your own, \`[]\` for an entry of a list.
\`npm run generate\` writes this page from the schemas.
`;

/** Text of the page. Equal schemas give equal text. */
export async function referencePage(): Promise<string> {
  const kinds = Object.keys(KINDS) as Kind[];
  const sections = kinds.flatMap((kind) => sectionsOf(kind, readSchema(kind)));
  const text = [INTRODUCTION, ...sections].join('\n');
  return format(text, { parser: 'markdown', printWidth: 100 });
}

function readSchema(kind: Kind): Schema {
  return JSON.parse(readFileSync(join(FOLDER, `${kind}.schema.json`), 'utf8')) as Schema;
}

/** The fields of a file, then of each part that has a name and fields of its own. */
function sectionsOf(kind: Kind, schema: Schema): string[] {
  const parts = Object.entries(schema.$defs ?? {}).filter(([, part]) => part.properties);
  return [
    `## ${KINDS[kind]}\n\n${schema.description ?? ''}\n\n${table(schema)}`,
    ...parts.map(([name, part]) => {
      return `### ${headingOf(name)}\n\n${part.description ?? ''}\n\n${table(part)}`;
    }),
  ];
}

function headingOf(part: string): string {
  return `Part: ${part}`;
}

function table(schema: Schema): string {
  const rows = fieldsOf(schema, '').map(({ path, isRequired, field }) => {
    const name = isRequired ? `**\`${path}\`**` : `\`${path}\``;
    const { $ref, description = $ref === undefined ? '' : (resolved($ref).description ?? '') } =
      field;
    return `| ${[name, expected(field), description].map(cell).join(' | ')} |`;
  });
  return ['| field | takes | means |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

interface Field {
  readonly path: string;
  readonly isRequired: boolean;
  readonly field: Schema;
}

/** Fields at any depth, up to the parts that have a table of their own. Many of one sort are one row. */
function fieldsOf(schema: Schema, prefix: string): Field[] {
  const members = Object.entries(schema.properties ?? {});
  const [[, first] = ['', undefined], ...others] = members;
  const isOneSort = others.every(([, field]) => JSON.stringify(field) === JSON.stringify(first));
  if (first && others.length > 0 && isOneSort) {
    const words = members.map(([name]) => `\`${name}\``).join(', ');
    const description = `${first.description ?? ''} The names are ${words}.`;
    return [{ path: `${prefix}<name>`, isRequired: false, field: { ...first, description } }];
  }
  return members.flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    return [{ path, isRequired, field }, ...below(field, path)];
  });
}

function below(field: Schema, path: string): Field[] {
  const { additionalProperties: others, items } = field;
  return [
    ...fieldsOf(field, `${path}.`),
    ...(typeof others === 'object' ? below(others, `${path}.<name>`) : []),
    ...(items ? below(items, `${path}[]`) : []),
  ];
}

/** What belongs there, in words. */
function expected(schema: Schema): string {
  const { $ref, enum: words, anyOf, type, items, additionalProperties: others } = schema;
  if ($ref !== undefined) return ofReference($ref);
  if (schema['x-expected'] !== undefined) return schema['x-expected'] + partsOf(anyOf);
  if ('const' in schema) return `\`${String(schema.const)}\``;
  if (words) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (anyOf) return anyOf.map(expected).join(', or ');
  if (type === 'array') return `a list of ${plural(items ? expected(items) : 'anything')}`;
  if (typeof others === 'object') return `by name: ${expected(others)}`;
  return WORDS[[type ?? ''].flat().join(' ')] ?? 'anything';
}

/** Where the parts are described that words alone name. */
function partsOf(choices: readonly Schema[] = []): string {
  const references = choices.flatMap(({ $ref, items }) => $ref ?? items?.$ref ?? []);
  const links = references.map(ofReference).filter((text) => text.startsWith('['));
  return links.length === 0 ? '' : ` (${[...new Set(links)].join(', ')})`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  object: 'the fields below',
};

function plural(text: string): string {
  return text === 'text' ? 'texts' : text;
}

/** A part with fields has a table; another one is said in words here. */
function ofReference(reference: string): string {
  const part = resolved(reference);
  const [, name] = /#\/\$defs\/([^/]+)$/.exec(reference) ?? [];
  if (!part.properties || name === undefined) return expected(part);
  const anchor = headingOf(name)
    .toLowerCase()
    .replaceAll(/[^a-z -]/g, '');
  return `[${name}](#${anchor.replaceAll(' ', '-')})`;
}

/** Names of parts are used once over all schemas, so one without an `$id` is looked for in each. */
function resolved(reference: string): Schema {
  const [id = '', pointer = ''] = reference.split('#/');
  const kinds = Object.keys(KINDS) as Kind[];
  for (const kind of kinds.filter((each) => ['', `urn:flagkeel:schema:${each}:1`].includes(id))) {
    const found = pointer
      .split('/')
      .reduce<unknown>(
        (at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name],
        readSchema(kind),
      );
    if (found !== undefined) return found as Schema;
  }
  throw new Error(`no part is called ${reference}`);
}
