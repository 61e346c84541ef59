import type { ChangeRequest, RequestMark } from './change-request.js';
import { FLAG_FIELDS, FLAG_FIELD_ROWS, type FieldType, type FlagFields } from './flag/fields.js';
import { DEFINITION_FIELDS, DEFINITION_FORMS, type Definition } from './flag/flag.js';
import type { IdentityGroup } from './identities.js';
import type { Form } from './json.js';
import { keyOf, type Kind } from './ref.js';
import type { KeyDigest } from './segment-keys.js';

/** One entry per object of our inventory, by `KIND/NAME`. It stays until the object is really gone from the service. */
export type State = ReadonlyMap<string, StateEntry>;

export type StateEntry = FlagEntry | SegmentEntry | IdentitiesEntry;

interface Entry<K extends Kind, T> {
  readonly kind: K;
  readonly name: string;
  /** Environment id → base. */
  readonly environments: Readonly<Record<string, Base<T>>>;
}

export interface FlagEntry extends Entry<'flag', Definition> {
  /** The id from the service's answer. */
  readonly id?: string;
  readonly workspace?: Base<FlagBase>;
}

interface SegmentEntry extends Entry<'segment', ActivationBase> {
  readonly workspace?: Base<SegmentBase>;
}

/** By traffic type. The service cannot list identities, which are in environments only: a base holds what it accepted. */
interface IdentitiesEntry extends Entry<'identities', IdentitiesBase> {
  readonly workspace?: never;
}

export interface FlagBase {
  readonly trafficType: string;
  readonly fields: FlagFields;
  /** The only tag that git owned; unset if it owned all of them, or none. */
  readonly ownershipTag?: string;
}

export interface SegmentBase {
  readonly trafficType: string;
}

export interface ActivationBase {
  /** Count and hash of the keys. Unset if git did not manage them. */
  readonly keys?: KeyDigest;
}

export interface IdentitiesBase {
  readonly groups: readonly IdentityGroup[];
}

/** Of one object at workspace level or in one environment. */
export interface Base<T> {
  /**
   * The canonical spec last found equal on the service. For a flag, each field is the one last found equal. Unset
   * before that happens for the first time, see `pending`.
   */
  readonly spec?: T;
  /** The commit of `spec`; null if the specs were not read from a commit. */
  readonly commit: string | null;
  /** For flags only: JSON Pointer → commit, for fields of `spec` from another commit than `commit`. */
  readonly fields?: Readonly<Record<string, string | null>>;
  /**
   * An unfinished act: a creation (recorded before its first request, so that a half-made object counts as ours), or a
   * deletion that was held back or failed.
   */
  readonly pending?: 'create' | 'delete';
  /**
   * For a pending creation by a single request: the canonical spec in it, without its kill. If the object exists, any
   * other value was set by someone else.
   */
  readonly created?: T;
  /** The kill in `spec` came from the break-glass list: removing the entry from the list restores the flag. */
  readonly killListed?: boolean;
  /** HEAD of the run that first saw a kill on the service which git had not ordered. */
  readonly liveKillSeenAt?: string;
  /** When it saw that, ISO 8601 in UTC; states of older versions lack it. */
  readonly liveKillSeen?: string;
  /** The service's time of its last change of a killed definition, as a run saw it. */
  readonly killedAsOf?: string;
  /** Our change request for this object, as long as it is open or its rejection stands. */
  readonly request?: RememberedRequest<T>;
  /** JSON Pointer (empty for a new creation) → times of the last few corrections of drift, ISO 8601 in UTC, rising. */
  readonly corrections?: Readonly<Record<string, readonly string[]>>;
}

export interface RememberedRequest<T> extends Omit<ChangeRequest, 'mark'> {
  readonly mark: RequestMark;
  /** The spec that it asks for: an equal live value is no change by hand. Unset if no run could record it. */
  readonly asked?: T;
}

export const EMPTY_STATE: State = new Map();

/** The memory of a ramp: neither specs nor commits say when it began and how far it came. */
export interface RampRecord {
  /** Start of the wait for the next step, ISO 8601 in UTC. At first the ramp's `start`, or the first run to see it. */
  readonly since: string;
  /** HEAD of that run; null if it read no commit. */
  readonly commit: string | null;
  /** The share at that moment: steps up to it are done. */
  readonly from: number;
  /** The share that was last found equal on the service. */
  readonly reached: number;
  /** Hash of treatment, start and steps: if they change, the count restarts from the share that is reached. */
  readonly ladder: string;
  /** Whose share it is. Older versions did not write it. */
  readonly treatment?: string;
  /** The last run found it held, or its flag killed. */
  readonly stopped?: true;
  readonly setback?: RampSetback;
}

/** What a failed check did to a ramp. It stands until a commit changes the ramp, or orders the kill. */
export interface RampSetback {
  /** The share goes back to the step before, or the flag is killed. */
  readonly act: 'previous' | 'kill';
  /** When the check failed, ISO 8601 in UTC. */
  readonly at: string;
  /** The failed check, as a clause; untrusted text. */
  readonly why: string;
  /** Hash of the ramp as it was written. */
  readonly ramp: string;
  /** A run was about to do it. Counts only if the service shows that it was done. */
  readonly begun?: true;
}

/** By `rampId`. */
export type RampRecords = Readonly<Record<string, RampRecord>>;

/** ISO 8601 in UTC, by comment and plan hash: `github 1234 sha256:…`. */
export type UsedApprovals = Readonly<Record<string, string>>;

/**
 * Definitions that were killed when they left the inventory, and are not back: their creation must not undo the kill.
 * `flag/NAME@ENVIRONMENT ID` → when the kill was first seen, ISO 8601 in UTC.
 */
export type LeftKilled = Readonly<Record<string, string>>;

const FIELD_FORMS: Readonly<Record<FieldType, Form>> = {
  prose: 'text',
  name: 'text',
  names: ['text'],
};

/** What a base remembers of an object in the workspace, and in an environment. */
export const BASE_FORMS: Readonly<
  Record<Kind, { readonly workspace: Form; readonly environment: Form }>
> = {
  flag: {
    workspace: {
      trafficType: 'text',
      fields: optional(FLAG_FIELDS, (field) => FIELD_FORMS[FLAG_FIELD_ROWS[field].type]),
      'ownershipTag?': 'text',
    },
    environment: optional(DEFINITION_FIELDS, (field) => DEFINITION_FORMS[field]),
  },
  segment: {
    workspace: { trafficType: 'text' },
    environment: { 'keys?': { count: 'count', sha256: 'text' } },
  },
  identities: {
    // The workspace has none of them.
    workspace: () => false,
    environment: { groups: [{ attributes: ['text'], keys: { '*': 'text' } }] },
  },
};

function optional<F extends string>(fields: readonly F[], formOf: (field: F) => Form): Form {
  return Object.fromEntries(fields.map((field) => [`${field}?`, formOf(field)]));
}

type EntryOf<K extends Kind> = Extract<StateEntry, { readonly kind: K }>;

export function flagEntry(state: State, name: string): FlagEntry | undefined {
  return entryOf(state, 'flag', name);
}

export function entryOf<K extends Kind>(
  state: State,
  kind: K,
  name: string,
): EntryOf<K> | undefined {
  // Keys begin with the kind of their entry.
  return state.get(keyOf(kind, name)) as EntryOf<K> | undefined;
}

export function entriesOf<K extends Kind>(entries: Iterable<StateEntry>, kind: K): EntryOf<K>[] {
  return [...entries].filter((entry): entry is EntryOf<K> => entry.kind === kind);
}

export function entryId(entry: StateEntry | undefined): string | undefined {
  return entry && 'id' in entry ? entry.id : undefined;
}
