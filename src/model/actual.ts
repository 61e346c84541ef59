import type { ChangeRequest } from './change-request.js';
import type { ObjectId } from './ref.js';
import type { KeyDigest, KeyList } from './segment-keys.js';
import type {
  WireDefinition,
  WireFlag,
  WireRolloutStatus,
  WireSegment,
} from '../admin-api/wire.js';

/** The state of the service, for the objects that a run asked for. A failed read never leaves a guess in here. */
export interface Actual {
  readonly rolloutStatuses: readonly WireRolloutStatus[];
  /** Name → id of every traffic type that any answer named. */
  readonly trafficTypeIds: ReadonlyMap<string, string>;
  readonly flags: ReadonlyMap<string, ActualFlag>;
  readonly segments: ReadonlyMap<string, ActualSegment>;
  /** Names of all flags of the workspace; null where the service cannot list them, undefined where it was not asked. */
  readonly allFlags: readonly string[] | null | undefined;
  /** The same of segments, which every service lists; null where it was not asked. */
  readonly allSegments: readonly string[] | null;
  /** Oldest first, in the environments that were asked for them. Unset if there are none. */
  readonly requests?: ReadonlyMap<ObjectId, readonly ChangeRequest[]>;
  /** Whether the service can return a single flag, as an earlier answer proved. */
  readonly showsFlags: boolean;
}

export interface ActualFlag {
  /** `unknown`: there is no definition, and the service cannot return a single flag. */
  readonly existence: 'present' | 'absent' | 'unknown';
  readonly id?: string;
  /** Unset if the service cannot return a single flag. */
  readonly flag?: WireFlag;
  /** For every environment that was read; null where there is no definition. */
  readonly definitions: ReadonlyMap<string, WireDefinition | null>;
  /** Environments whose definition was not read, because an interrupted run wrote it. Unset if there are none. */
  readonly unread?: ReadonlySet<string>;
}

export interface ActualSegment {
  /** Unset if there is no such segment. */
  readonly segment?: WireSegment;
  /** Every environment that was read. */
  readonly environments: ReadonlyMap<string, ActualActivation>;
}

export interface ActualActivation {
  readonly active: boolean;
  /** Unset if only the activation was read, or if `assumedKeys` stand in for the keys. */
  readonly keys?: KeyList;
  /** Keys assumed from the base, without listing them: the service counts as many, and the specs still want them. */
  readonly assumedKeys?: KeyDigest;
  /** An open change request on the service holds the keys. */
  readonly openChangeRequestId?: string;
}

/** Which objects a run observes. Environments go by the service's names. */
export interface Scope {
  readonly flags: ReadonlyMap<string, FlagScope>;
  readonly segments: ReadonlyMap<string, SegmentScope>;
  /** Whether to observe definitions of unmanaged flags too: they may use an object that the plan removes. */
  readonly users: boolean;
  /** Whether all managed objects are observed. If only a part is, lists would return more than necessary. */
  readonly whole: boolean;
  /** Number of flags known to be on the service: lists of flags will return at least as many. */
  readonly flagsKnown: number;
  /**
   * A definition as it is known without a reading, for a service without lists; null if it is known to be absent.
   * `written`: an interrupted run wrote it, and it is left unread unless an object may be removed that it could use.
   */
  readonly shown?: (
    flag: string,
    environment: string,
  ) => WireDefinition | 'written' | null | undefined;
}

export interface FlagScope {
  readonly id?: string | undefined;
  /** Environments where a run has seen the definition: if a list does not show it there, a second request checks that. */
  readonly known: ReadonlySet<string>;
  readonly environments: ReadonlySet<string>;
}

export interface SegmentScope {
  readonly environments: ReadonlyMap<string, KeyDetail>;
  /** Observe only whether the segment is active in these environments, not the segment itself. */
  readonly placesAlone?: true;
}

/** With a digest of the expected keys, they are listed only if the service does not provably count as many. */
export type KeyDetail = 'keys' | 'activation' | KeyDigest;
