import { FlagkeelError, messageOf } from '../errors.js';
import { present } from '../model/collections.js';
import { byCodeUnits, isDeeperThan, isRecord } from '../model/json.js';
import { FLAG_FIELD_ROWS, type FieldType } from '../model/flag/fields.js';
import { FLAG_FIELDS } from '../model/flag/flag.js';
import { KINDS, type Kind } from '../model/ref.js';
import {
  EMPTY_STATE,
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
  const isNamed = isKind(kind) && typeof name === 'string' && name !== '';
  if (!isNamed || entryPath({ kind, name }) !== path) throw unreadable(path, 'is another object');
  const specs = SPECS[kind];
  if (id !== undefined && !isText(id)) throw unreadable(path, '"id" is no text');
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
  if (!isCommitOrNull(head) || !isText(workspace)) {
    throw unreadable(RUN_FILE, '"head" or "workspace" is wrong');
  }
  const members = Object.entries(RUN_MEMBERS).flatMap(([name, check]) =>
    check(rest[name]) ? [[name, rest[name]] as const] : [],
  );
  // The checks covered every member of the type.
  return { head, workspace, ...Object.fromEntries(members) } as unknown as RunRecord;
}

export function unreadable(path: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError(
    'STATE_UNREADABLE',
    `cannot read the state: "${path}" ${why} (flagkeel state rebuild)`,
    { cause },
  );
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
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    `cannot read the state: "${path}" has format ${formatVersion}, and this version reads up to ${FORMAT_VERSION} (a newer flagkeel wrote it: use that one, or go back as docs/upgrading.md says)`,
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnits(a, b));
  return Object.fromEntries(members.map(([key, each]) => [key, sorted(each)]));
}

type Check = (value: unknown) => boolean;

/** Whether this is a `Base` with such a spec. Reading drops all members that flagkeel does not know. */
function isBase(value: unknown, spec: Check): boolean {
  return record({
    spec: optional(spec),
    commit: isCommitOrNull,
    fields: optional(isFieldCommits),
    pending: optional(oneOf('create', 'delete')),
    created: optional(spec),
    killListed: optional(isFlagOfTruth),
    liveKillSeenAt: optional(isCommit),
    liveKillSeen: optional(isMoment),
    corrections: optional(isCorrections),
    request: optional(isRequest(spec)),
  })(value);
}

function isRequest(spec: Check): Check {
  return record({
    id: isText,
    operation: isText,
    is: oneOf('open', 'rejected'),
    by: isTextOrNull,
    since: (since) => since === null || isMoment(since),
    approvers: listOf(isText),
    mark: record({ wanted: isText, content: isText }),
    asked: optional(spec),
  });
}

function record(members: Readonly<Record<string, Check>>): Check {
  return (value) =>
    isRecord(value) && Object.entries(members).every(([name, check]) => check(value[name]));
}

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const oneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);

const isText: Check = (value) => typeof value === 'string';
const isTextOrNull: Check = (value) => value === null || isText(value);
const isTextMap: Check = (value) => isRecord(value) && Object.values(value).every(isText);
const isFlagOfTruth: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isCommit: Check = (value) => typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
const isCommitOrNull: Check = (value) => value === null || isCommit(value);
const isFieldCommits: Check = (value) =>
  isRecord(value) &&
  Object.entries(value).every(([path, commit]) => path.startsWith('/') && isCommitOrNull(commit));

const isMoment: Check = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value);

const isRampRecord = record({
  since: isMoment,
  commit: isCommitOrNull,
  from: isCount,
  reached: isCount,
  ladder: isText,
  stopped: optional(oneOf(true)),
  setback: optional(
    record({
      act: oneOf('previous', 'kill'),
      at: isMoment,
      why: isText,
      ramp: isText,
      begun: optional(oneOf(true)),
    }),
  ),
});

/** The members of `run.json` that may be missing; one of another form is left out. */
const RUN_MEMBERS: Readonly<Record<string, Check>> = {
  origin: isText,
  directory: isText,
  workspaceName: isText,
  environments: isTextMap,
  outOfSync: listOf(isText),
  ramps: (value) => isRecord(value) && Object.values(value).every(isRampRecord),
  approvals: (value) => isRecord(value) && Object.values(value).every(isMoment),
  killsOf: isCommit,
  flagIds: isTextMap,
};

const isCorrections: Check = (value) =>
  isRecord(value) &&
  Object.entries(value).every(
    ([path, moments]) => /^(\/|$)/.test(path) && listOf(isMoment)(moments),
  );

const isKind = (value: unknown): value is Kind => oneOf(...KINDS)(value);
const isBuckets = listOf(record({ treatment: isText, size: isCount }));
const isTargets: Check = (value) => isRecord(value) && Object.values(value).every(listOf(isText));

const FIELD_CHECKS: Readonly<Record<FieldType, Check>> = {
  prose: isText,
  name: isText,
  names: listOf(isText),
};

const SPECS: Readonly<Record<Kind, { readonly workspace: Check; readonly environment: Check }>> = {
  flag: {
    workspace: record({
      trafficType: isText,
      fields: record(
        Object.fromEntries(
          FLAG_FIELDS.map((field) => [field, optional(FIELD_CHECKS[FLAG_FIELD_ROWS[field].type])]),
        ),
      ),
      ownershipTag: optional(isText),
    }),
    environment: record({
      treatments: optional(listOf(record({ name: isText, description: optional(isText) }))),
      targets: optional(isTargets),
      defaultTreatment: optional(isText),
      baselineTreatment: optional(isText),
      trafficAllocation: optional(isCount),
      rules: optional(
        listOf(record({ matchers: listOf(record({ type: isText })), buckets: isBuckets })),
      ),
      defaultRule: optional(isBuckets),
      killed: optional(isFlagOfTruth),
    }),
  },
  segment: {
    workspace: record({ trafficType: isText }),
    environment: record({ keys: optional(record({ count: isCount, sha256: isText })) }),
  },
  identities: {
    // The workspace has none of them.
    workspace: () => false,
    environment: record({
      groups: listOf(record({ attributes: listOf(isText), keys: isTextMap })),
    }),
  },
};
