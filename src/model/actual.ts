import type { KeyDigest, KeyList } from './segment-keys.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRolloutStatus,
  WireSegment,
  WireWorkspace,
} from '../admin-api/wire.js';

/** The state of the service, for the objects that a run asked for. A failed read never leaves a guess in here. */
export interface Actual {
  readonly workspace: WireWorkspace;
  /** Environments by their name on the service, in the service's order. */
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
  /** Whether the service can return a single flag, as an earlier answer proved. */
  readonly showsFlags: boolean;
}

export interface ActualFlag {
  /** `unknown`: there is no definition, and the service cannot return a single flag. */
  readonly existence: 'present' | 'absent' | 'unknown';
  readonly id?: string;
  /** Unset if the service cannot return a single flag. */
  readonly flag?: WireFlag;
  /** Environment name → definition, for every environment that was read; null where there is no definition. */
  readonly definitions: ReadonlyMap<string, WireDefinition | null>;
}

export interface ActualSegment {
  /** Unset if there is no such segment. */
  readonly segment?: WireSegment;
  /** Environment name → activation, for every environment that was read. */
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
