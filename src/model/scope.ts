import type { KeyDigest } from './segment-keys.js';

/** The objects that are looked at, kind by kind and by name. */
export interface ScopedObjects {
  readonly flags: ReadonlyMap<string, FlagScope>;
  readonly segments: ReadonlyMap<string, SegmentScope>;
}

export const NOTHING_IN_SCOPE: ScopedObjects = { flags: new Map(), segments: new Map() };

/** Which objects a run looks at. Environments go by the service's names. */
export interface Scope extends ScopedObjects {
  /**
   * Whether definitions of flags that are not managed here are observed as well: something may be
   * removed that they still use.
   */
  readonly users: boolean;
  /**
   * Whether everything that is managed here is observed. Otherwise only a part of it is, and lists
   * would hold more than is asked for.
   */
  readonly whole: boolean;
  /**
   * The number of flags that are known to be on the service, which is the least that lists of them
   * will hold.
   */
  readonly flagsKnown: number;
}

export interface FlagScope {
  /** The id that an earlier run was answered. */
  readonly id?: string | undefined;
  /**
   * Whether the flag is in our inventory. A list that does not show such a flag is checked by a
   * second request.
   */
  readonly known: boolean;
  readonly environments: ReadonlySet<string>;
}

export interface SegmentScope {
  readonly environments: ReadonlyMap<string, KeyDetail>;
  /** The segment itself is not looked at, only whether it is active in these environments. */
  readonly placesAlone?: true;
}

/**
 * How closely the keys of a segment in one environment are looked at:
 *
 * - `keys`: all of them
 * - `activation`: not at all, only whether it is active
 * - a digest: what the base has and the specs still want. As long as the service provably counts as many, they are
 *   taken to be these, and one page is read; another count, or one that may be the page's own, has them listed.
 */
export type KeyDetail = 'keys' | 'activation' | KeyDigest;
