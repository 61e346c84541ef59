import type {
  FlagImpact as WrittenFlagImpact,
  KeyCount as WrittenKeyCount,
  Move as WrittenMove,
  Range as WrittenRange,
} from '../generated/plan.schema.d.js';
import type { Frozen } from './json.js';

/** The keys that get another treatment or configuration after the plan than before it; see `docs/impact.md`. */
export interface Impact {
  /** The changed flag first, then by name those that use the changed object; without flags whose keys all keep theirs. */
  readonly flags: readonly FlagImpact[];
  readonly risks: readonly Risk[];
  /** Of a restore once the plan is applied. Unset if the plan does not leave the flag killed, or only kills it. */
  readonly afterRestore?: FlagImpact;
  /** The traffic in per cent that is moved after the last step of what the change begins. Unset if it begins nothing. */
  readonly atLast?: Range;
}

/** The words are stable; programs may rely on them. */
export const RISKS = [
  /** All of a protected environment's traffic gets one treatment, not the default, and some of it had something else. */
  'all-of-production',
  /** At least half of the traffic of a protected environment may get something else, by any other cause than these. */
  'most-of-production',
  /** A new ramp in a protected environment may give at least half of the traffic something else by its last step. */
  'ramp-ends',
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

/** Per cent with at most two decimals. Both ends can occur; they are equal where the figure is exact. */
export type Range = Frozen<WrittenRange>;

export type KeyCount = Frozen<WrittenKeyCount>;
