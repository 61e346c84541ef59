import type { Definition, FlagFields } from './flag/flag.js';
import type { IdentityGroup } from './identities.js';
import { keyOf, type Kind } from './ref.js';
import type { KeyDigest } from './segment-keys.js';

/**
 * What a run remembers: one entry per object of our inventory, keyed by `KIND/NAME`.
 *
 * An object stays in here until it is really gone, also when its deletion was held back or failed.
 */
export type State = ReadonlyMap<string, StateEntry>;

export type StateEntry = FlagEntry | SegmentEntry | IdentitiesEntry;

export interface FlagEntry {
  readonly kind: 'flag';
  readonly name: string;
  /** The id that the service answered. */
  readonly id?: string;
  readonly workspace?: Base<FlagBase>;
  /** Environment id → base. */
  readonly environments: Readonly<Record<string, Base<Definition>>>;
}

export interface SegmentEntry {
  readonly kind: 'segment';
  readonly name: string;
  readonly workspace?: Base<SegmentBase>;
  /** Environment id → base. */
  readonly environments: Readonly<Record<string, Base<ActivationBase>>>;
}

/** The identities of one traffic type. The service cannot list them: a base is what it was seen to take. */
export interface IdentitiesEntry {
  readonly kind: 'identities';
  /** The traffic type. */
  readonly name: string;
  /** Identities stand in environments only. */
  readonly workspace?: never;
  /** Environment id → base. */
  readonly environments: Readonly<Record<string, Base<IdentitiesBase>>>;
}

export interface FlagBase {
  readonly trafficType: string;
  readonly fields: FlagFields;
}

export interface SegmentBase {
  readonly trafficType: string;
}

export interface ActivationBase {
  /** Keys stand here as count and hash only. Absent: they were not managed. */
  readonly keys?: KeyDigest;
}

export interface IdentitiesBase {
  readonly groups: readonly IdentityGroup[];
}

/** What is remembered of one object in one place (the workspace, or one environment). */
export interface Base<T> {
  /**
   * The canonical spec last found equal on the service: of a flag field by field, each as it was when that field was
   * last found equal. Absent: never yet, see `pending`.
   */
  readonly spec?: T;
  /** The commit that `spec` came from; null where the specs were not read from a commit. */
  readonly commit: string | null;
  /** JSON Pointer → commit of the fields of `spec` that came from another commit than `commit`; of flags only. */
  readonly fields?: Readonly<Record<string, string | null>>;
  /**
   * What was begun and not yet seen to be done: a creation about to be made (written before its first request, so
   * that a half-made object is known as ours), or a deletion that was held back or failed.
   */
  readonly pending?: 'create' | 'delete';
  /**
   * While a creation is pending that is a single request: the canonical spec that it carries, without its kill. Where the
   * object is found, this is what it was made with, and any other value is somebody else's.
   */
  readonly created?: T;
  /** The kill in `spec` stood in the break-glass list: taking the entry out of it restores the flag. */
  readonly killListed?: boolean;
  /** HEAD of the run that first saw a kill on the service which git had not ordered. */
  readonly liveKillSeenAt?: string;
  /** When that run saw it, ISO 8601 in UTC; states of older versions lack it. */
  readonly liveKillSeen?: string;
  /**
   * JSON Pointer → when drift of that field was corrected last, ISO 8601 in UTC, rising, the latest few. Empty pointer:
   * the whole object was made again.
   */
  readonly corrections?: Readonly<Record<string, readonly string[]>>;
}

export const EMPTY_STATE: State = new Map();

/** What runs remember of a ramp: neither specs nor commits tell when it began and how far it came. */
export interface RampRecord {
  /** Since when the next step is waited for, ISO 8601 in UTC. At first the moment of the run that first saw the ramp, or its `start`. */
  readonly since: string;
  /** HEAD of that run; null: it read no commit. */
  readonly commit: string | null;
  /** The share at that moment, in whole per cent: steps up to it are done. */
  readonly from: number;
  /** The share that was last found equal on the service, in whole per cent. */
  readonly reached: number;
  /** Hash of treatment, start and steps: others count anew from what is reached. */
  readonly ladder: string;
  /** The last run saw it held, or its flag killed. */
  readonly stopped?: true;
}

/** By the id of the ramp, see `rampId`. */
export type RampRecords = Readonly<Record<string, RampRecord>>;

/** When the comments that approved a plan let it pass, ISO 8601 in UTC, by comment and plan hash: `github 1234 sha256:…`. */
export type UsedApprovals = Readonly<Record<string, string>>;

type EntryOf<K extends Kind> = Extract<StateEntry, { readonly kind: K }>;

/** What is remembered of a flag; undefined where it was never managed here. */
export function flagEntry(state: State, name: string): FlagEntry | undefined {
  return entryOf(state, 'flag', name);
}

/** What is remembered of a segment; undefined where it was never managed here. */
export function segmentEntry(state: State, name: string): SegmentEntry | undefined {
  return entryOf(state, 'segment', name);
}

/** Undefined: nothing was written of this traffic type. */
export function identitiesEntry(state: State, trafficType: string): IdentitiesEntry | undefined {
  return entryOf(state, 'identities', trafficType);
}

function entryOf<K extends Kind>(state: State, kind: K, name: string): EntryOf<K> | undefined {
  const entry = state.get(keyOf(kind, name));
  return entry && isOfKind(entry, kind) ? entry : undefined;
}

/** The objects of one kind in the inventory. */
export function entriesOf<K extends Kind>(state: State, kind: K): EntryOf<K>[] {
  return entriesOfKind(state.values(), kind);
}

/** Those of one kind, in their order. */
export function entriesOfKind<K extends Kind>(
  entries: Iterable<StateEntry>,
  kind: K,
): EntryOf<K>[] {
  const found: EntryOf<K>[] = [];
  for (const entry of entries) if (isOfKind(entry, kind)) found.push(entry);
  return found;
}

function isOfKind<K extends Kind>(entry: StateEntry, kind: K): entry is EntryOf<K> {
  return entry.kind === kind;
}

/** The id that the service answered, where objects of the kind have one. */
export function entryId(entry: StateEntry | undefined): string | undefined {
  return entry && 'id' in entry ? entry.id : undefined;
}
