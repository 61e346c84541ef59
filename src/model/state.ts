import type { Definition, FlagFields } from '../kinds/flag.js';
import type { IdentityGroup } from '../kinds/identity.js';
import type { KeyDigest } from '../kinds/key-list.js';

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
  /** The canonical spec last found equal on the service. Absent: never yet, see `pending`. */
  readonly spec?: T;
  /** The commit that `spec` came from; null where the specs were not read from a commit. */
  readonly commit: string | null;
  /**
   * What was begun and not yet seen to be done: a creation about to be made (written before its first request, so
   * that a half-made object is known as ours), or a deletion that was held back or failed.
   */
  readonly pending?: 'create' | 'delete';
  /** The kill in `spec` stood in the break-glass list: taking the entry out of it restores the flag. */
  readonly killListed?: boolean;
  /** HEAD of the run that first saw a kill on the service which git had not ordered. */
  readonly liveKillSeenAt?: string;
}

export const EMPTY_STATE: State = new Map();

/** Undefined: the flag was never ours. */
export function flagEntry(state: State, name: string): FlagEntry | undefined {
  const entry = state.get(`flag/${name}`);
  return entry?.kind === 'flag' ? entry : undefined;
}

/** Undefined: the segment was never ours. */
export function segmentEntry(state: State, name: string): SegmentEntry | undefined {
  const entry = state.get(`segment/${name}`);
  return entry?.kind === 'segment' ? entry : undefined;
}
