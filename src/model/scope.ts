import type { KeyDigest } from '../kinds/key-list.js';

/** Which objects a run looks at. Environments go by the service's names. */
export interface Scope {
  readonly flags: ReadonlyMap<string, FlagScope>;
  readonly segments: ReadonlyMap<string, SegmentScope>;
  /**
   * Whether definitions of flags that are none of ours are looked at as well: something may be removed, and they may
   * still use it.
   */
  readonly users: boolean;
  /** All that is ours is looked at; otherwise a part of it, of which lists would say more than is asked. */
  readonly whole: boolean;
  /** Flags that are known to be there, at least: so long are lists of them. */
  readonly flagsKnown: number;
}

export interface FlagScope {
  /** The id that an earlier run was answered. */
  readonly id?: string | undefined;
  /** In our inventory: a list that does not show it is not believed without a second question. */
  readonly known: boolean;
  readonly environments: ReadonlySet<string>;
}

export interface SegmentScope {
  readonly environments: ReadonlyMap<string, KeysLook>;
}

/**
 * How closely the keys of a segment in one environment are looked at:
 *
 * - `keys`: all of them
 * - `activation`: not at all, only whether it is active
 * - a digest: what the base has and the specs still want. As long as the service counts as many, they are taken to be
 *   these, and one page is read; another count has them listed.
 */
export type KeysLook = 'keys' | 'activation' | KeyDigest;
