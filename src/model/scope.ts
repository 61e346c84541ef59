import type { KeyDigest } from './segment-keys.js';

/** The objects to observe, by kind and name. */
export interface ScopedObjects {
  readonly flags: ReadonlyMap<string, FlagScope>;
  readonly segments: ReadonlyMap<string, SegmentScope>;
}

export const NOTHING_IN_SCOPE: ScopedObjects = { flags: new Map(), segments: new Map() };

/** Which objects a run observes. Environments go by the service's names. */
export interface Scope extends ScopedObjects {
  /** Whether to observe definitions of unmanaged flags too: they may use an object that the plan removes. */
  readonly users: boolean;
  /** Whether all managed objects are observed. If only a part is, lists would return more than necessary. */
  readonly whole: boolean;
  /** Number of flags known to be on the service: lists of flags will return at least as many. */
  readonly flagsKnown: number;
}

export interface FlagScope {
  /** The id from an earlier answer. */
  readonly id?: string | undefined;
  /** Whether the flag is in the inventory. If a list does not show such a flag, a second request checks it. */
  readonly known: boolean;
  readonly environments: ReadonlySet<string>;
}

export interface SegmentScope {
  readonly environments: ReadonlyMap<string, KeyDetail>;
  /** Observe only whether the segment is active in these environments, not the segment itself. */
  readonly placesAlone?: true;
}

/**
 * How closely to observe the keys of a segment in one environment:
 *
 * - `keys`: list all of them
 * - `activation`: only check whether it is active
 * - a digest: of the keys that the base has and the specs still want. As long as the service provably counts as many,
 *   the segment is taken to hold them, and one page is read; another count, or one that may be the page's own, has them
 *   listed.
 */
export type KeyDetail = 'keys' | 'activation' | KeyDigest;
