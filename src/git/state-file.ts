import { FlaghoistError, messageOf } from '../errors.js';
import { byCodeUnits, isDeeperThan } from '../kinds/json.js';
import { EMPTY_STATE, type State, type StateEntry } from '../model/state.js';
import { isBase, isEntryIdentity, isObject, isTextMap, type Shape } from './state-shape.js';

/** Version of the layout below; a newer one is refused, because it may mean something else. */
const FORMAT_VERSION = 1;
const MAX_DEPTH = 64;
export const RUN_FILE = 'run.json';

/** What `run.json` remembers of the run as a whole. */
export interface RunRecord {
  /** HEAD that was applied last. */
  readonly head: string | null;
  /** Id of the workspace. */
  readonly workspace: string;
  /** Of the service. Absent, like the two below, in states that were written before there was such a member. */
  readonly origin?: string;
  /** The config directory seen from the top of its repository; empty for the top. */
  readonly directory?: string;
  /** Environment id → name. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

/** What a file of the state's tree holds: an entry, or the run's record as text. */
export type StateContent = StateEntry | string;

/** All that stands in the tree of a state. */
export interface StateTree {
  readonly entries: State;
  /** Path → text of every file that holds no entry: the run's record, and what is not ours. */
  readonly others: ReadonlyMap<string, string>;
}

export const EMPTY_TREE: StateTree = { entries: EMPTY_STATE, others: new Map() };

export function stateTree(state: State, run: RunRecord): StateTree {
  const record = prettyJson({ formatVersion: FORMAT_VERSION, ...run });
  return { entries: state, others: new Map([[RUN_FILE, record]]) };
}

/** Where an entry stands in the tree. */
export function entryPath({ kind, name }: Pick<StateEntry, 'kind' | 'name'>): string {
  return `objects/${kind}/${encodeName(name)}.json`;
}

export function entryText(entry: StateEntry): string {
  return prettyJson({ formatVersion: FORMAT_VERSION, ...entry });
}

/** @throws FlaghoistError `STATE_UNREADABLE`: whoever pushed the ref may have written anything. */
export function parseEntryFile(path: string, content: string): StateEntry {
  const { kind, name, ...rest } = parseFile(path, content);
  const entry = { kind, name, ...rest };
  const says = { kind, name, path: `objects/${String(kind)}/${encodeName(String(name))}.json` };
  if (!isEntryIdentity(entry) || says.path !== path) throw unreadable(path, 'is another object');
  const { id, workspace, environments } = rest;
  const { workspaceShape, environmentShape } = SHAPES[entry.kind];
  if (id !== undefined && typeof id !== 'string') throw unreadable(path, '"id" is no text');
  if (workspace !== undefined && !isBase(workspace, workspaceShape)) {
    throw unreadable(path, '"workspace" is no base');
  }
  if (!isObject(environments)) throw unreadable(path, '"environments" is absent');
  for (const [environment, base] of Object.entries(environments)) {
    if (!isBase(base, environmentShape)) {
      throw unreadable(path, `environment "${environment}" is no base`);
    }
  }
  // Every member that the type names was looked at above.
  return {
    kind: entry.kind,
    name: entry.name,
    ...(id === undefined ? {} : { id }),
    ...(workspace === undefined ? {} : { workspace }),
    environments,
  } as StateEntry;
}

/** @throws FlaghoistError `STATE_UNREADABLE` */
export function parseRunFile(content: string): RunRecord {
  const { head, workspace, origin, directory, environments } = parseFile(RUN_FILE, content);
  const isCommit = typeof head === 'string' && /^[0-9a-f]{40,64}$/.test(head);
  if ((head !== null && !isCommit) || typeof workspace !== 'string') {
    throw unreadable(RUN_FILE, '"head" or "workspace" is wrong');
  }
  return {
    head,
    workspace,
    ...(typeof origin === 'string' && { origin }),
    ...(typeof directory === 'string' && { directory }),
    ...(isTextMap(environments) && { environments }),
  };
}

export function unreadable(path: string, why: string, cause?: unknown): FlaghoistError {
  return new FlaghoistError(
    'STATE_UNREADABLE',
    `cannot read the state: "${path}" ${why} (flaghoist state rebuild)`,
    { cause },
  );
}

/**
 * A name as one component of a path, which it can never leave: everything but letters, digits, `.`, `_`, `-` is
 * percent-encoded, and so is a dot at the front.
 */
export function encodeName(name: string): string {
  if (/^[\w-][\w.-]*$/.test(name)) return name;
  return Array.from(Buffer.from(name), (byte, index) => {
    const character = String.fromCharCode(byte);
    const isPlain = index === 0 ? /[\w-]/.test(character) : /[\w.-]/.test(character);
    return isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

const SHAPES: Readonly<
  Record<StateEntry['kind'], { readonly workspaceShape: Shape; readonly environmentShape: Shape }>
> = {
  flag: { workspaceShape: 'flag', environmentShape: 'definition' },
  segment: { workspaceShape: 'segment', environmentShape: 'activation' },
  identities: { workspaceShape: 'none', environmentShape: 'identities' },
};

function parseFile(path: string, content: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw unreadable(path, `is no JSON: ${messageOf(error)}`, error);
  }
  if (!isObject(value)) throw unreadable(path, 'is no JSON object');
  if (isDeeperThan(value, MAX_DEPTH)) throw unreadable(path, 'is nested too deeply');
  const { formatVersion, ...rest } = value;
  if (formatVersion === FORMAT_VERSION) return rest;
  throw unreadable(path, 'was written in another format, perhaps by a newer flaghoist');
}

/** Sorted members, two spaces, a line feed at the end: `git log -p` then shows what changed and nothing else. */
function prettyJson(value: unknown): string {
  return `${JSON.stringify(sorted(value), null, 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnits(a, b));
  return Object.fromEntries(members.map(([key, each]) => [key, sorted(each)]));
}
