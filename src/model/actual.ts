import type { KeyDigest, KeyList } from './segment-keys.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRolloutStatus,
  WireSegment,
  WireWorkspace,
} from '../admin-api/wire.js';

/** What the service says is, for the objects that were asked for. Nothing in here was guessed from a failed read. */
export interface Actual {
  readonly workspace: WireWorkspace;
  /** Environments by the name that the service has, in the service's order. */
  readonly environments: ReadonlyMap<string, WireEnvironment>;
  readonly rolloutStatuses: readonly WireRolloutStatus[];
  /** Names; null where the service does not list them. */
  readonly trafficTypes: readonly string[] | null;
  /** Name → id of every traffic type that any answer named. */
  readonly trafficTypeIds: ReadonlyMap<string, string>;
  readonly flags: ReadonlyMap<string, ActualFlag>;
  readonly segments: ReadonlyMap<string, ActualSegment>;
  /** Names of all flags and segments of the workspace; null where the service cannot list them or was not asked. */
  readonly allFlags: readonly string[] | null;
  readonly allSegments: readonly string[] | null;
  /** The service has a way to show a flag by itself, and was seen to. */
  readonly showsFlags: boolean;
}

export interface ActualFlag {
  /** `unknown`: no definition was found and the service has no way to show a flag by itself. */
  readonly existence: 'present' | 'absent' | 'unknown';
  readonly id?: string;
  /** Absent where the service has no way to show it. */
  readonly flag?: WireFlag;
  /** Environment name → definition, for every environment that was asked; null: none there. */
  readonly definitions: ReadonlyMap<string, WireDefinition | null>;
}

export interface ActualSegment {
  /** Absent: there is no such segment. */
  readonly segment?: WireSegment;
  /** Environment name → what is there, for every environment that was asked. */
  readonly environments: ReadonlyMap<string, ActualActivation>;
}

export interface ActualActivation {
  readonly active: boolean;
  /** Absent where only the activation was looked at, and where `assumedKeys` stand in for them. */
  readonly keys?: KeyList;
  /** Not listed: the service counts as many keys as these, which the base has and the specs still want. */
  readonly assumedKeys?: KeyDigest;
  /** A change request that is open on the service holds the keys. */
  readonly openChangeRequestId?: string;
}
