import type { Tool as ToolListed } from '@modelcontextprotocol/sdk/types.js';
import type { HelpDocument, OptionDocument } from './help-document.js';

export interface Tool {
  readonly description: string;
  /** One that writes nothing, whatever these options say. */
  readonly command: string;
  readonly options?: readonly string[];
  readonly argument?: Argument;
  /** Whether the command asks the service: always, or where there is a key. Default: never. */
  readonly asks?: 'always' | 'with-key';
  readonly shown?: (document: Document) => Document;
}

interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required?: true;
}

export type Document = Readonly<Record<string, unknown>>;

const OBJECT: Argument = { name: 'object', description: 'As KIND/NAME: flag/new-checkout.' };
const CODE: Argument = { name: 'code', description: 'For example unknown-field or NO_KEY.' };
const PLANNED = {
  command: 'plan',
  asks: 'always',
  options: ['environment', 'only', 'since', 'at'],
} as const;

/** Each runs a command that only reads. Nothing else can be run. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  plan: {
    description:
      'What a run would change on the service and why, with what is held back, risks and guards. Writes nothing.',
    ...PLANNED,
  },
  impact: {
    description:
      'Whom the changes of the plan move from which treatment to which, and what is risky about it.',
    ...PLANNED,
    shown: impactOf,
  },
  drift: {
    description: 'What is live and not in git.',
    command: 'drift',
    asks: 'always',
    options: ['environment'],
  },
  history: {
    description:
      'What was written to the service, newest first, with title, comment and outcome; of one object or of all.',
    command: 'history',
    asks: 'always',
    options: ['since', 'max-count'],
    argument: OBJECT,
  },
  validate: {
    description:
      'Every problem of the specs, lint included, with file, line, column and code. Offline.',
    command: 'validate',
  },
  list: {
    description: 'All flags and segments as the specs have them, by environment. Offline.',
    command: 'report',
  },
  read: {
    description:
      'A flag: rules, who gets what, newest commits; and what is live, where there is a key. With key, segment or attribute: what that key gets.',
    command: 'explain',
    asks: 'with-key',
    options: ['environment', 'key', 'segment', 'attribute'],
    argument: { ...OBJECT, required: true },
  },
  find_usage: {
    description: 'Where a flag or segment is named in the specs. Offline.',
    command: 'find-usage',
    argument: { ...OBJECT, required: true },
  },
  explain_code: {
    description:
      'What a code of a diagnostic, an error, a guard or of what is withheld means, and the way out. Offline.',
    command: 'explain',
    argument: { ...CODE, required: true },
  },
};

function impactOf({ changes = [], ...document }: Document): Document {
  const some = (whole: Document, ...names: readonly string[]): Document =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)));
  return {
    ...some(document, 'formatVersion', 'planHash', 'summary', 'error'),
    changes: (changes as readonly Document[]).map((change) =>
      some(change, 'id', 'action', 'reason', 'title', 'impact', 'risks', 'afterRestore'),
    ),
  };
}

/** The JSON Schema of the arguments of a call. @param help of the command, which describes its options. */
export function inputOf({ options = [], argument }: Tool, help: HelpDocument): Input {
  const ofOptions = options.map((name) => {
    const option = help.options.find((each) => each.name === `--${name}`);
    if (!option?.value) throw new Error(`bug: ${help.name} has no option --${name} with a value`);
    return [memberOf(name), schemaOf(option)] as const;
  });
  const { name, description, required } = argument ?? {};
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...(name !== undefined && { [name]: { ...TEXT, description } }),
      ...Object.fromEntries(ofOptions),
    },
    required: name !== undefined && required ? [name] : [],
  };
}

type Input = ToolListed['inputSchema'];

const TEXT = { type: 'string', minLength: 1 } as const;

function schemaOf({ description, value, repeatable }: OptionDocument): object {
  if (repeatable) return { type: 'array', items: TEXT, description };
  return value?.type === 'integer'
    ? { type: 'integer', minimum: 1, description }
    : { ...TEXT, description };
}

function memberOf(option: string): string {
  return option.replaceAll(/-./g, (part) => part.slice(1).toUpperCase());
}

export type Given = Readonly<Record<string, unknown>>;

interface Where {
  readonly directory: string;
  readonly place: readonly string[];
  readonly online: boolean;
}

/** The command line of a call. What the client gives stands behind `=` or behind `--`, so that none of it becomes an option. */
export function lineOf(tool: Tool, given: Given, { directory, place, online }: Where): string[] {
  const { command, options = [], argument, asks } = tool;
  const valuesOf = (name: string): string[] => [given[name] ?? []].flat().map(String);
  return [
    command,
    '--format=json',
    '--no-color',
    '--quiet',
    ...(online && asks === 'with-key' ? ['--online'] : []),
    ...(online ? place : []),
    ...options.flatMap((name) => valuesOf(memberOf(name)).map((value) => `--${name}=${value}`)),
    '--',
    ...(argument ? valuesOf(argument.name) : []),
    directory,
  ];
}
