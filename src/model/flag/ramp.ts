import { byCodeUnits, canonicalJson, sameJson, sha256 } from '../json.js';
import type { RampRecord } from '../state.js';
import type { Bucket, Definition, Matcher } from './flag.js';

/** Steps by which the share of one treatment grows, as the specs have them. */
export interface DesiredRamp {
  /**
   * By which runs know it among the ramps of its definition: that of the default rule, the name of its rule, or, where the
   * rule has none, its condition. Never a position: rules move.
   */
  readonly key: string;
  /** Position of the rule that it is about, from 0; null: the default rule. */
  readonly rule: number | null;
  /** Of the rule, canonical; none of the default rule. */
  readonly matchers: readonly Matcher[];
  /** How many rules before it have the same condition. */
  readonly nth: number;
  readonly treatment: string;
  /** Treatments of the definition, in bucket order. */
  readonly order: readonly string[];
  /** What the rule serves before the first step. */
  readonly written: readonly Bucket[];
  /** Milliseconds since the epoch; absent: with the run that first sees the ramp at HEAD. */
  readonly startMs?: number;
  /** Each serves more than the one before, and the first at least what is written. */
  readonly steps: readonly RampStep[];
  /** Name of a window. Absent: those of the environment alone decide. */
  readonly within?: string;
  /** Names of the checks that have to pass before each step. Absent: none. */
  readonly checks?: readonly string[];
  /** No step is taken. */
  readonly hold: boolean;
}

export interface RampStep {
  /** Whole per cent. */
  readonly percent: number;
  /** Milliseconds since the epoch. Absent: `afterMs` alone counts. */
  readonly atMs?: number;
  /** After the step before it, or after the start. */
  readonly afterMs: number;
}

/** What is remembered of a ramp, but for what it reaches. */
export type RampAnchor = Omit<RampRecord, 'reached'>;

/** A ramp at one moment. */
export interface Ladder {
  readonly ramp: DesiredRamp;
  /** When each step is due, in milliseconds since the epoch; null: at no moment that could be found. */
  readonly dueMs: readonly (number | null)[];
  /** Position of the last step that is due; -1: none is. */
  readonly step: number;
  /** Why no step is taken, whatever is due; a clause for people. Null: steps are taken. */
  readonly held: string | null;
  /** What is to be remembered of it, by whether the service has its flag killed; null: nothing can be. */
  readonly anchors: Readonly<Record<'alive' | 'killed', RampAnchor>> | null;
  /** By git, or by the service where it was looked at. */
  readonly isKilled: boolean;
  /** What runs remember of it; absent: nothing. */
  readonly record?: RampRecord;
  /** The key of a ramp that left the specs, of whose rule this one's may be a new form. */
  readonly heirOf?: string;
  /** In which people read when steps are due. */
  readonly zone: string;
  /** Of the step that is due and not taken yet. */
  readonly checks?: readonly CheckStanding[];
  /** When a daemon asks again what has failed, in milliseconds since the epoch. */
  readonly againMs?: number;
}

export interface CheckStanding {
  readonly name: string;
  /** A run that writes nothing asks nobody. */
  readonly result: 'passed' | 'failed' | 'not-asked';
  /** Of one that failed: a clause; untrusted text. */
  readonly why: string | null;
}

/** A step, and when it is due. */
export interface StepStanding {
  readonly percent: number;
  /** ISO 8601 in UTC; null: at no moment that could be found. */
  readonly due: string | null;
  /** The same as people read it, in a zone of theirs. */
  readonly dueText: string | null;
}

/** How far a ramp has come, for people. */
export interface RampStanding {
  /** Of the definition: `flag/shop@production`. */
  readonly id: string;
  /** Position of the rule, from 0; null: the default rule. */
  readonly rule: number | null;
  readonly treatment: string;
  readonly steps: readonly StepStanding[];
  /** Position of the last step that is due; -1: none is. */
  readonly step: number;
  /** Why no step is taken; a clause. Null: steps are taken. */
  readonly held: string | null;
  /** The share that the service has, in whole per cent; null: nothing was looked at. */
  readonly served: number | null;
  /** Of the step that is due and not taken yet; absent: there is none, or nothing is asked before it. */
  readonly checks?: readonly CheckStanding[];
}

/** The share of a treatment, in whole per cent. */
export function shareOf(buckets: readonly Bucket[], treatment: string): number {
  return buckets.find((each) => each.treatment === treatment)?.size ?? 0;
}

/**
 * What a rule serves where the treatment of its ramp has this share. The others share the rest as they do in what is written,
 * to the nearest whole per cent; buckets stand in the order in which they are written, a new one where its treatment stands.
 */
export function rampedBuckets(
  { written, treatment, order }: Pick<DesiredRamp, 'written' | 'treatment' | 'order'>,
  percent: number,
): Bucket[] {
  const others = written.filter((each) => each.treatment !== treatment);
  const sizes = dividedAs(
    others.map(({ size }) => size),
    100 - percent,
  );
  const sized = others.map((each, at) => ({ ...each, size: sizes[at] ?? 0 }));
  const own = { treatment, size: percent };
  const place = order.indexOf(treatment);
  const isWritten = written.length > others.length;
  const before = isWritten
    ? written.findIndex((each) => each.treatment === treatment)
    : sized.filter((each) => order.indexOf(each.treatment) < place).length;
  return [...sized.slice(0, before), own, ...sized.slice(before)].filter(({ size }) => size > 0);
}

/** Whole numbers of this sum, in proportion to the weights; the largest remainders are rounded up, the first of equals. */
function dividedAs(weights: readonly number[], sum: number): number[] {
  const whole = weights.reduce((total, each) => total + each, 0);
  if (whole === 0) return weights.map(() => 0);
  const exact = weights.map((each) => (each * sum) / whole);
  const floors = exact.map(Math.floor);
  const left = sum - floors.reduce((total, each) => total + each, 0);
  const byRemainder = exact
    .map((each, at) => ({ at, remainder: each - Math.floor(each) }))
    .sort((a, b) => b.remainder - a.remainder || a.at - b.at);
  const raised = new Set(byRemainder.slice(0, left).map(({ at }) => at));
  return floors.map((each, at) => (raised.has(at) ? each + 1 : each));
}

/** The share with which a rule stands somewhere on the way of a ramp; undefined: it serves something else. */
export function shareOnRamp(ramp: DesiredRamp, buckets: readonly Bucket[]): number | undefined {
  const share = shareOf(buckets, ramp.treatment);
  const served = buckets.filter(({ size }) => size > 0);
  return sameJson(rampedBuckets(ramp, share), served) ? share : undefined;
}

/** A condition as text that is equal for equal conditions: all of its matchers have to match, in whatever order they stand. */
export function conditionOf(matchers: readonly Matcher[]): string {
  return canonicalJson(matchers.map(canonicalJson).sort(byCodeUnits));
}

/** See `DesiredRamp`. */
export function rampKey(name: string | undefined, matchers: readonly Matcher[] | null): string {
  if (matchers === null) return 'default';
  return name === undefined ? `if ${sha256(conditionOf(matchers)).slice(0, 16)}` : `rule ${name}`;
}

/** By which the state knows a ramp. The id of an environment outlives its name. */
export function rampId(flag: string, environmentId: string, key: string): string {
  return `${flag}@${environmentId} ${key}`;
}

/** What a definition serves where a ramp stands, wherever its rule is by now; undefined: it has no such rule. */
export function bucketsOn(
  { rules = [], defaultRule }: Definition,
  { rule, matchers, nth }: Pick<DesiredRamp, 'rule' | 'matchers' | 'nth'>,
): readonly Bucket[] | undefined {
  if (rule === null) return defaultRule;
  const condition = conditionOf(matchers);
  return rules.filter((each) => conditionOf(each.matchers) === condition)[nth]?.buckets;
}
