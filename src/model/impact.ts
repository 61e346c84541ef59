import type {
  FlagImpact as WrittenFlagImpact,
  KeyCount as WrittenKeyCount,
  Move as WrittenMove,
  Range as WrittenRange,
} from '../generated/plan.schema.d.js';
import type { Frozen } from './json.js';

/**
 * Whom a change reaches: the keys that get another treatment, or another configuration of the same one, after the plan
 * than before it. Computed from definitions and lists of keys alone; `docs/impact.md` gives the reasoning.
 */
export interface Impact {
  /**
   * The flags that carry the change to users, each in the change's own environment: the changed flag itself first, then
   * by name those that use the changed object. Flags whose keys all keep their treatment are left out.
   */
  readonly flags: readonly FlagImpact[];
  readonly risks: readonly Risk[];
  /**
   * Whom a restore of the changed flag would reach once the plan is applied. Unset if the plan does not leave the flag
   * killed, or only kills it.
   */
  readonly afterRestore?: FlagImpact;
  /** The traffic in per cent that is moved after the last step of what the change begins. Unset if it begins nothing. */
  readonly atLast?: Range;
}

/** Risks that a reviewer should not overlook. The words are stable; programs may rely on them. */
export const RISKS = [
  /**
   * In a protected environment all of the traffic gets one treatment, which is not the default, and some of it had
   * another treatment or configuration before.
   */
  'all-of-production',
  /** At least half of the traffic of a protected environment may get something else, by any other cause than these. */
  'most-of-production',
  /** A new ramp in a protected environment may give at least half of the traffic something else by its last step. */
  'ramp-ends',
  /** The flag is killed. */
  'kills',
  /** Keys that had one treatment other than the default get another one. */
  'moves-between-variants',
  /** The default treatment changes of a flag that is killed before and after: all its keys get the new one at once. */
  'default-changed-while-killed',
  /** Some rule, target or bucket names a treatment other than the default, but no key gets any. */
  'serves-nobody',
] as const;

export type Risk = (typeof RISKS)[number];

/** How the whole plan changes the treatments of one flag's keys in one environment. */
export interface FlagImpact extends Omit<Frozen<WrittenFlagImpact>, 'moves'> {
  readonly environment: string;
  readonly moves: readonly Move[];
}

/** A move from one treatment to another; if both are equal, to another configuration of it. */
export interface Move extends Frozen<WrittenMove> {
  /** The individual targets among the keys, and the keys whose bucket is known; sorted. */
  readonly names: readonly string[];
}

/** Bounds in per cent with at most two decimals. Both ends can occur; they are equal where the figure is exact. */
export type Range = Frozen<WrittenRange>;

export type KeyCount = Frozen<WrittenKeyCount>;
