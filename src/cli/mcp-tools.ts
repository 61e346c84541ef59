import type { Tool as ToolListed } from '@modelcontextprotocol/sdk/types.js';

/** How a member of the arguments of a tool becomes a word of a command line. */
interface Parameter {
  readonly description: string;
  readonly type: 'text' | 'texts' | 'number';
  /** Absent: it stands by itself, before the directory. */
  readonly option?: string;
  readonly required?: true;
}

/** What a client may call: a command that only reads, and which of its options it takes. */
export interface Tool {
  readonly description: string;
  /** The command that it runs; one that writes nothing. */
  readonly words: readonly string[];
  /** Whether the command asks the service: always, or where there is a key. */
  readonly asks?: 'always' | 'with-key';
  /** Whether it takes the directory; default: it does. */
  readonly hasDirectory?: false;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** What is shown of the document; default: all. */
  readonly shown?: (document: Document) => Document;
}

/** What a command prints with `--format json`. */
export type Document = Readonly<Record<string, unknown>>;

const ENVIRONMENT: Parameter = {
  description: 'Only these environments.',
  type: 'texts',
  option: '--environment',
};
const PLANNED: Tool['parameters'] = {
  environment: ENVIRONMENT,
  only: { description: 'Only these objects, as KIND/NAME.', type: 'texts', option: '--only' },
  since: {
    description: 'Only objects whose specs differ from this revision.',
    type: 'text',
    option: '--since',
  },
  at: { description: 'Plan for this moment, ISO 8601 with offset.', type: 'text', option: '--at' },
};
const OBJECT: Parameter = { description: 'As KIND/NAME: flag/new-checkout.', type: 'text' };
const someOf = (names: readonly string[]) => (document: Document) =>
  Object.fromEntries(Object.entries(document).filter(([name]) => names.includes(name)));

/** Each runs a command that only reads. Nothing else can be run. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  plan: {
    description:
      'What a run would change on the service and why, with what is held back, risks and guards. Writes nothing.',
    words: ['plan'],
    asks: 'always',
    parameters: PLANNED,
  },
  impact: {
    description:
      'Whom the changes of the plan move from which treatment to which, and what is risky about it.',
    words: ['plan'],
    asks: 'always',
    parameters: PLANNED,
    shown: (document) => ({
      ...someOf(['formatVersion', 'planHash', 'summary', 'error'])(document),
      changes: changesOf(document).map(
        someOf(['id', 'action', 'reason', 'title', 'impact', 'risks', 'afterRestore']),
      ),
    }),
  },
  drift: {
    description: 'What is live and not in git.',
    words: ['drift'],
    asks: 'always',
    parameters: { environment: ENVIRONMENT },
  },
  history: {
    description:
      'What was written to the service, newest first, with title, comment and outcome; of one object or of all.',
    words: ['history'],
    asks: 'always',
    parameters: {
      object: OBJECT,
      since: {
        description: 'Nothing older: ISO 8601, or 24h, 7d.',
        type: 'text',
        option: '--since',
      },
      maxCount: { description: 'The newest so many.', type: 'number', option: '--max-count' },
    },
  },
  validate: {
    description:
      'Every problem of the specs, lint included, with file, line, column and code. Offline.',
    words: ['validate'],
    parameters: {},
  },
  list: {
    description: 'All flags and segments as the specs have them, by environment. Offline.',
    words: ['report'],
    parameters: {},
  },
  read: {
    description:
      'A flag: rules, who gets what, newest commits; and what is live, where there is a key. With key, segment or attribute: what somebody gets.',
    words: ['explain'],
    asks: 'with-key',
    parameters: {
      object: { ...OBJECT, required: true },
      environment: ENVIRONMENT,
      key: { description: 'What this key gets.', type: 'text', option: '--key' },
      segment: { description: 'What a key of these gets.', type: 'texts', option: '--segment' },
      attribute: {
        description: 'What a key with these gets, each as NAME=VALUE.',
        type: 'texts',
        option: '--attribute',
      },
    },
  },
  find_usage: {
    description: 'Where a flag or segment is named in the specs. Offline.',
    words: ['find-usage'],
    parameters: { object: { ...OBJECT, required: true } },
  },
  explain_code: {
    description:
      'What a code of a diagnostic, an error, a guard or of what is withheld means, and the way out. Offline.',
    words: ['explain'],
    hasDirectory: false,
    parameters: {
      code: { description: 'For example unknown-field or NO_KEY.', type: 'text', required: true },
    },
  },
};

function changesOf({ changes }: Document): Document[] {
  return Array.isArray(changes) ? (changes as Document[]) : [];
}

const TYPES = {
  text: { type: 'string', minLength: 1 },
  texts: { type: 'array', items: { type: 'string', minLength: 1 } },
  number: { type: 'integer', minimum: 1 },
} as const;

/** What its arguments have to be like, as JSON Schema. */
export function inputOf({ parameters }: Tool): ToolListed['inputSchema'] {
  const members = Object.entries(parameters);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      members.map(([name, { description, type }]) => [name, { ...TYPES[type], description }]),
    ),
    required: members.flatMap(([name, { required }]) => (required ? [name] : [])),
  };
}

/** Arguments of a call, as they were checked. */
export type Given = Readonly<Record<string, unknown>>;

interface Where {
  readonly directory: string;
  readonly place: readonly string[];
  readonly online: boolean;
}

/**
 * The command line of a call. What the client gives stands behind `=` or behind `--`: none of them is taken for an option.
 *
 * @param where `online`: whether the service is asked; `place`: the options that say where it is.
 */
export function lineOf(tool: Tool, given: Given, { directory, place, online }: Where): string[] {
  const words: string[] = [];
  const behind: string[] = [];
  for (const [name, { option }] of Object.entries(tool.parameters)) {
    const values = [given[name] ?? []].flat().map(String);
    if (option === undefined) behind.push(...values);
    else words.push(...values.map((value) => `${option}=${value}`));
  }
  const asking = tool.asks === 'with-key' ? ['--online', ...place] : place;
  const where = tool.hasDirectory === false ? [] : [directory];
  const own = [...tool.words, '--format=json', '--no-color', '--quiet'];
  return [...own, ...(online ? asking : []), ...words, '--', ...behind, ...where];
}
