/**
 * Whom a change reaches: who is served another treatment, or the same with another configuration, after the plan than
 * before it. Worked out from definitions and lists of keys alone; `docs/impact.md` has the reasoning.
 */
export interface Impact {
  /**
   * The flags through which the change is felt, each in the change's own environment: the changed flag itself first, then
   * those that use what changed, by name. Flags by which nobody is reached are left out.
   */
  readonly flags: readonly FlagImpact[];
  /** Risks in the order of `RISKS`. */
  readonly risks: readonly Risk[];
  /**
   * Whom a restore of the changed flag would reach once the plan is applied. Absent: the plan does not leave the flag
   * killed, or does nothing to it but kill it.
   */
  readonly afterRestore?: FlagImpact;
}

/** What a reviewer should not overlook. The words are stable; programs may hold on to them. */
export const RISKS = [
  /**
   * In a protected environment all of the traffic gets one treatment, which is not the default, and some of it got another
   * one before, or another configuration.
   */
  'all-of-production',
  /** The flag is killed. */
  'kills',
  /** Keys that had one treatment other than the default get another one. */
  'moves-between-variants',
  /** The default treatment of a flag changes that is killed before and after: everybody gets it at once. */
  'default-changed-while-killed',
  /** Some rule, target or bucket names a treatment other than the default, and nobody gets any. */
  'serves-nobody',
] as const;

export type Risk = (typeof RISKS)[number];

/** What becomes of one flag's keys in one environment when the whole plan is applied. */
export interface FlagImpact {
  readonly flag: string;
  readonly environment: string;
  /** Per cent of the traffic that gets something else, over all moves; of keys that stand in no known list. */
  readonly traffic: Range;
  /** Listed keys that get something else, over all moves. Of a changed segment only the keys that it gains or loses. */
  readonly keys: KeyCount;
  /** How many listed keys were looked at. */
  readonly listed: number;
  /** Moves by their size, the largest first. */
  readonly moves: readonly Move[];
  /** There were too many combinations to look at each: the ranges are wider than they need be. */
  readonly bounded: boolean;
}

/** From one treatment to another one; where both are the same, to another configuration of it. */
export interface Move {
  /**
   * Null where there is no definition: evaluators then answer `control`. The same holds for `to`.
   */
  readonly from: string | null;
  readonly to: string | null;
  readonly traffic: Range;
  readonly keys: KeyCount;
  /** The individual targets among the keys; sorted. */
  readonly names: readonly string[];
}

/** Both ends are possible and equal where the figure is exact. Per cent have two decimals at most. */
export interface Range {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface KeyCount extends Range {
  /** Whether each key is known by itself. Otherwise hashing decides, and the number is what it gives on average. */
  readonly certain: boolean;
}
