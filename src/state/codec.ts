import { FlagkeelError, messageOf } from '../errors.js';
import { present, sortedMap } from '../model/collections.js';
import { hasForm, isDeeperThan, isRecord, type Check, type Form } from '../model/json.js';
import { KINDS } from '../model/ref.js';
import {
  BASE_FORMS,
  EMPTY_STATE,
  type LeftKilled,
  type RampRecords,
  type State,
  type StateEntry,
  type UsedApprovals,
} from '../model/state.js';

/** Version of the layout below; a newer one is refused, because it may mean something else. */
const FORMAT_VERSION = 2;
/** Version 1 had one commit for all fields of a base, and reads as a present base without `fields`. */
const READABLE_VERSIONS: readonly unknown[] = [1, FORMAT_VERSION];
const MAX_DEPTH = 64;
export const RUN_FILE = 'run.json';

export interface RunRecord {
  readonly head: string | null;
  readonly workspace: string;
  /** Origin of the service. States of older versions lack it, and the two members below. */
  readonly origin?: string;
  /** The config directory seen from the top of its repository; empty for the top. */
  readonly directory?: string;
  readonly workspaceName?: string | undefined;
  readonly environments?: Readonly<Record<string, string>> | undefined;
  /** `KIND/NAME`, sorted, of objects that runs left different; missing if no run has recorded them. */
  readonly outOfSync?: readonly string[] | undefined;
  readonly ramps?: RampRecords | undefined;
  /** Missing until a comment approves a plan. */
  readonly approvals?: UsedApprovals | undefined;
  /** The commit whose kills were sent last, all of them; a run may have failed after that. */
  readonly killsOf?: string | undefined;
  readonly flagIds?: Readonly<Record<string, string>> | undefined;
  readonly leftKilled?: LeftKilled | undefined;
  readonly judged?: Readonly<Record<string, string>> | undefined;
}

export type StateContent = StateEntry | string;

export interface StateTree {
  readonly entries: State;
  /** Path → text of the other files: the run's record, and files that flagkeel did not write. */
  readonly others: ReadonlyMap<string, string>;
}

export const EMPTY_TREE: StateTree = { entries: EMPTY_STATE, others: new Map() };

export function stateTree(state: State, run: RunRecord): StateTree {
  return { entries: state, others: new Map([[RUN_FILE, fileText(run)]]) };
}

export function entryPath({ kind, name }: Pick<StateEntry, 'kind' | 'name'>): string {
  return `objects/${kind}/${encodeName(name)}.json`;
}

/** Sorted members, two spaces, a line feed at the end, so that `git log -p` shows only real changes. */
export function fileText(content: StateEntry | RunRecord): string {
  const members = sorted({ formatVersion: FORMAT_VERSION, ...content });
  return `${JSON.stringify(members, null, 2)}\n`;
}

/** @throws FlagkeelError `STATE_UNREADABLE` it is no entry: anyone who can push may have written the ref. */
export function parseEntryFile(path: string, content: string): StateEntry {
  const { kind, name, id, workspace, environments } = parseFile(path, content);
  const known = KINDS.find((each) => each === kind);
  const isNamed = known !== undefined && typeof name === 'string' && name !== '';
  if (!isNamed || entryPath({ kind: known, name }) !== path) {
    throw unreadable(path, 'is another object');
  }
  const specs = BASE_FORMS[known];
  if (id !== undefined && typeof id !== 'string') throw unreadable(path, '"id" is no text');
  if (workspace !== undefined && !isBase(workspace, specs.workspace)) {
    throw unreadable(path, '"workspace" is no base');
  }
  if (!isRecord(environments)) throw unreadable(path, '"environments" is absent');
  for (const [environment, base] of Object.entries(environments)) {
    if (!isBase(base, specs.environment)) {
      throw unreadable(path, `environment "${environment}" is no base`);
    }
  }
  // The checks above covered every member of the type.
  return present({ kind, name, id, workspace, environments }) as unknown as StateEntry;
}

/** @throws FlagkeelError `STATE_UNREADABLE` */
export function parseRunFile(content: string): RunRecord {
  const { head, workspace, ...rest } = parseFile(RUN_FILE, content);
  if (!hasForm({ head, workspace }, { head: orNull(isCommit), workspace: 'text' })) {
    throw unreadable(RUN_FILE, '"head" or "workspace" is wrong');
  }
  const members = Object.entries(RUN_MEMBERS).flatMap(([name, form]) =>
    hasForm(rest[name], form) ? [[name, rest[name]] as const] : [],
  );
  // The checks covered every member of the type.
  return { head, workspace, ...Object.fromEntries(members) } as unknown as RunRecord;
}

export function unreadable(path: string, why: string, cause?: unknown): FlagkeelError {
  const message = `cannot read the state: "${path}" ${why} (flagkeel state rebuild)`;
  return new FlagkeelError('STATE_UNREADABLE', message, { cause });
}

/**
 * A name as one component of a path, which it can never leave: all but letters, digits, `.`, `_`, `-` is
 * percent-encoded.
 */
export function encodeName(name: string): string {
  if (/^[\w-][\w.-]*$/.test(name)) return name;
  return Array.from(Buffer.from(name), (byte, index) => {
    const character = String.fromCharCode(byte);
    const isPlain = index === 0 ? /[\w-]/.test(character) : /[\w.-]/.test(character);
    return isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

function parseFile(path: string, content: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw unreadable(path, `is no JSON: ${messageOf(error)}`, error);
  }
  if (!isRecord(value)) throw unreadable(path, 'is no JSON object');
  if (isDeeperThan(value, MAX_DEPTH)) throw unreadable(path, 'is nested too deeply');
  const { formatVersion, ...rest } = value;
  if (READABLE_VERSIONS.includes(formatVersion)) return rest;
  if (typeof formatVersion !== 'number' || formatVersion <= FORMAT_VERSION) {
    throw unreadable(path, 'has no format that this version knows');
  }
  // To rebuild it would forget what the newer version remembers.
  const message = `cannot read the state: "${path}" has format ${formatVersion}, and this version reads up to ${FORMAT_VERSION} (a newer flagkeel wrote it: use that one, or go back as docs/upgrading.md says)`;
  throw new FlagkeelError('STATE_UNREADABLE', message);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const members = sortedMap(Object.entries(value));
  return Object.fromEntries([...members].map(([key, each]) => [key, sorted(each)]));
}

/** Whether this is a `Base` with such a spec. Reading drops all members that flagkeel does not know. */
function isBase(value: unknown, spec: Form): boolean {
  return hasForm(value, {
    'spec?': spec,
    commit: orNull(isCommit),
    'fields?': isFieldCommits,
    'pending?': oneOf('create', 'delete'),
    'created?': spec,
    'killListed?': 'boolean',
    'liveKillSeenAt?': isCommit,
    'liveKillSeen?': isMoment,
    'killedAsOf?': 'text',
    'corrections?': isCorrections,
    'request?': {
      id: 'text',
      operation: 'text',
      is: oneOf('open', 'rejected'),
      by: orNull('text'),
      since: orNull(isMoment),
      approvers: ['text'],
      mark: { wanted: 'text', content: 'text' },
      'asked?': spec,
    },
  });
}

const orNull =
  (form: Form): Check =>
  (value) =>
    value === null || hasForm(value, form);

const oneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);

const isCommit: Check = (value) => typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
const isFieldCommits: Check = (value) =>
  isRecord(value) &&
  Object.entries(value).every(
    ([path, commit]) => path.startsWith('/') && (commit === null || isCommit(commit)),
  );

const isMoment: Check = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value);

/** The members of `run.json` that may be missing; one of another form is left out. */
const RUN_MEMBERS: Readonly<Record<string, Form>> = {
  origin: 'text',
  directory: 'text',
  workspaceName: 'text',
  environments: { '*': 'text' },
  outOfSync: ['text'],
  ramps: {
    '*': {
      since: isMoment,
      commit: orNull(isCommit),
      from: 'count',
      reached: 'count',
      ladder: 'text',
      'treatment?': 'text',
      'stopped?': oneOf(true),
      'setback?': {
        act: oneOf('previous', 'kill'),
        at: isMoment,
        why: 'text',
        ramp: 'text',
        'begun?': oneOf(true),
      },
    },
  },
  approvals: { '*': isMoment },
  killsOf: isCommit,
  flagIds: { '*': 'text' },
  leftKilled: { '*': isMoment },
  judged: { '*': isCommit },
};

const isCorrections: Check = (value) =>
  isRecord(value) &&
  Object.entries(value).every(
    ([path, moments]) => /^(\/|$)/.test(path) && hasForm(moments, [isMoment]),
  );
