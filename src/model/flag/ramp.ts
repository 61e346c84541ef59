import type { Plan as WrittenPlan } from '../../generated/plan.schema.d.js';
import { present } from '../collections.js';
import { byCodeUnits, canonicalJson, sameJson, sha256, type ItemOf } from '../json.js';
import type { RampRecord, RampSetback } from '../state.js';
import type { Bucket, Definition, Matcher, Rule } from './flag.js';

export interface DesiredRamp {
  /** See `rampKey`: never a position, because rules move. */
  readonly key: string;
  /** Position of its rule, from 0; null for the default rule. */
  readonly rule: number | null;
  /** Of the rule, canonical; empty for the default rule. */
  readonly matchers: readonly Matcher[];
  /** How many earlier rules have the same condition. */
  readonly nth: number;
  readonly treatment: string;
  /** Treatments of the definition, in bucket order. */
  readonly order: readonly string[];
  /** The buckets of the rule before the first step. */
  readonly written: readonly Bucket[];
  /** Milliseconds since the epoch. Default: the moment of the run that first sees the ramp at HEAD. */
  readonly startMs?: number;
  /** Each serves more than the previous one, and the first at least the written share. */
  readonly steps: readonly RampStep[];
  /** Name of a window that limits it further. Default: only the environment's windows apply. */
  readonly within?: string;
  readonly checks?: readonly string[];
  /** What a failed check does beside holding the step. Default: nothing. */
  readonly onFail?: RampAct;
  readonly hold: boolean;
}

export type RampAct = RampSetback['act'];

export interface RampStep {
  /** Whole per cent. */
  readonly percent: number;
  /** Milliseconds since the epoch. Default: only `afterMs` counts. */
  readonly atMs?: number;
  /** Milliseconds after the previous step, or after the start. */
  readonly afterMs: number;
}

export type RampAnchor = Omit<RampRecord, 'reached' | 'setback'>;

export interface Ladder {
  /** See `rampId`. */
  readonly id: string;
  readonly ramp: DesiredRamp;
  /** When each step is due, in milliseconds since the epoch; null if no such moment was found. */
  readonly dueMs: readonly (number | null)[];
  /** Position of the last step that is due; -1 before the first. */
  readonly step: number;
  /** Why due steps are not taken, as a clause for people; null if they are. */
  readonly held: string | null;
  /** The share is beyond the last step, and stays. */
  readonly isBeyond?: true;
  /** Facts to remember, by whether the service has the flag killed; null if no run can keep them. */
  readonly anchors: Readonly<Record<'alive' | 'killed', RampAnchor>> | null;
  /** By git, or by the service if the run read it. */
  readonly isKilled: boolean;
  readonly record?: RampRecord;
  /** The key of a ramp that left the specs and whose rule may be an earlier form of this one's. */
  readonly heirOf?: string;
  readonly zone: string;
  /** Of the due step that is not taken yet. */
  readonly checks?: readonly CheckStanding[];
  /** When a daemon repeats a failed check, in milliseconds since the epoch. */
  readonly againMs?: number;
  /** What a failed check does in this run, or did in an earlier one; no commit has changed the ramp since. */
  readonly setback?: RampSetback;
}

type WrittenRamp = ItemOf<WrittenPlan['ramps']>;

export interface CheckStanding extends ItemOf<WrittenRamp['checks']> {
  /** The check found a wrong value, and not just no value. Only then may its failure take a ramp back. */
  readonly isMeasured?: true;
}

export type StepStanding = ItemOf<WrittenRamp['steps']>;

export interface RampStanding extends Omit<WrittenRamp, 'checks'> {
  readonly checks?: readonly CheckStanding[];
  /** The share to which `previous` goes back, in whole per cent. */
  readonly backTo?: number;
}

/** Equal for ramps that take the same steps. */
export function formOf({
  treatment,
  steps,
  startMs,
}: Pick<DesiredRamp, 'treatment' | 'steps' | 'startMs'>): string {
  return sha256(canonicalJson({ treatment, steps, startMs: startMs ?? null })).slice(0, 16);
}

/** A ramp as the specs write it, wherever its rule stands. Plain data. */
export function writtenRamp(ramp: DesiredRamp): object {
  const { key: rule, treatment, written, startMs, steps, within, checks, onFail, hold } = ramp;
  const optional = present({ startMs, within, checks, onFail });
  return { rule, treatment, hold, written, steps: steps.map(present), ...optional };
}

export function shareOf(buckets: readonly Bucket[], treatment: string): number {
  return buckets.find((each) => each.treatment === treatment)?.size ?? 0;
}

/**
 * The buckets of a rule at this share of its ramp's treatment. The others share the rest in their written proportions.
 * Buckets keep the written order; a new one takes the position of its treatment.
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

/** Whole numbers in proportion to the weights. Rounds up the largest remainders, first ones first. */
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

export function shareOnRamp(ramp: DesiredRamp, buckets: readonly Bucket[]): number | undefined {
  const share = shareOf(buckets, ramp.treatment);
  const served = buckets.filter(({ size }) => size > 0);
  return sameJson(rampedBuckets(ramp, share), served) ? share : undefined;
}

/** JSON Pointer to the field that a ramp moves. */
export function pathOf({ rule }: Pick<DesiredRamp, 'rule'>): '/rules' | '/defaultRule' {
  return rule === null ? '/defaultRule' : '/rules';
}

/** The value of such a field with other buckets. @param change gets the position of the rule, null for the default one. */
export function withEachBuckets(
  path: string,
  value: unknown,
  change: (buckets: readonly Bucket[], rule: number | null) => unknown,
): unknown {
  if (path === '/defaultRule') return change(value as readonly Bucket[], null);
  const rules = value as readonly Rule[];
  return rules.map((each, at) => ({ ...each, buckets: change(each.buckets, at) }));
}

/** The value of `/rules` or `/defaultRule`, with one text in place of each share that is on the way of its ramp. */
export function withoutShares(
  path: string,
  value: unknown,
  ramps: readonly DesiredRamp[],
): unknown {
  const side: Definition = { [path.slice(1)]: value };
  const found = ramps.flatMap((ramp) => {
    const buckets = bucketsOn(side, ramp);
    return buckets && shareOnRamp(ramp, buckets) !== undefined ? [buckets] : [];
  });
  return withEachBuckets(path, value, (buckets) =>
    found.includes(buckets) ? 'on the ramp' : buckets,
  );
}

/** A definition with the buckets of a ramp's rule replaced; a definition without that field stays as it is. */
export function withBuckets<T extends Definition>(
  side: T,
  { rule }: Pick<DesiredRamp, 'rule'>,
  buckets: readonly Bucket[],
): T {
  const member = rule === null ? 'defaultRule' : 'rules';
  if (!side[member]) return side;
  const changed = withEachBuckets(`/${member}`, side[member], (each, at) =>
    at === rule ? buckets : each,
  );
  return { ...side, [member]: changed };
}

/** Ignores the order of matchers, because all of them have to match. */
export function conditionOf(matchers: readonly Matcher[]): string {
  return canonicalJson(matchers.map(canonicalJson).sort(byCodeUnits));
}

export function rampKey(name: string | undefined, matchers: readonly Matcher[] | null): string {
  if (matchers === null) return 'default';
  return name === undefined ? `if ${sha256(conditionOf(matchers)).slice(0, 16)}` : `rule ${name}`;
}

/** Key of a ramp in the state. Uses the environment's id, because its name may change. */
export function rampId(flag: string, environmentId: string, key: string): string {
  return `${flag}@${environmentId} ${key}`;
}

/** Even if the rule has moved; undefined without such a rule. */
export function bucketsOn(
  { rules = [], defaultRule }: Definition,
  { rule, matchers, nth }: Pick<DesiredRamp, 'rule' | 'matchers' | 'nth'>,
): readonly Bucket[] | undefined {
  if (rule === null) return defaultRule;
  const condition = conditionOf(matchers);
  return rules.filter((each) => conditionOf(each.matchers) === condition)[nth]?.buckets;
}
