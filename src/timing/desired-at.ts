import type { BoundDesired } from '../model/bound-desired.js';
import { ownMember } from '../model/collections.js';
import type { Desired, DesiredDefinition, DesiredFlag } from '../model/desired.js';
import type { Bucket } from '../model/flag/flag.js';
import {
  formOf,
  rampedBuckets,
  rampId,
  withBuckets,
  type CheckStanding,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import { objectId, refOfId, type ObjectId } from '../model/ref.js';
import type { Closed } from '../model/run.js';
import type { RampRecords, RampSetback } from '../model/state.js';
import { calendarsOf, dueMoments, ladderOf, stepAt } from './ladder.js';
import {
  failureText,
  idIn,
  keptBeyond,
  setBack,
  setbackOf,
  shareIn,
  shareNow,
  sidesOf,
  timedFields,
  type Known,
} from './shares.js';
import { calendarIn, closedAt } from './windows.js';

export interface Facts extends Known {
  readonly records: RampRecords;
  /** Why ramps cannot be remembered, as a clause for people; null if they can: then unknown ones begin now. */
  readonly unkept: string | null;
  readonly head: string | null;
  /** Definitions that git orders killed. */
  readonly ordered: ReadonlySet<ObjectId>;
  /** Definitions that an earlier look of the same run found killed: one run must not move a share twice. */
  readonly killed: ReadonlySet<ObjectId>;
  /** What failed checks do in this run, as an earlier look of it decided, by the id of the ramp. */
  readonly setbacks: ReadonlyMap<string, RampSetback>;
  /** Whether the operator orders the last step of ramps whose share is beyond it. */
  readonly lowers: boolean;
  /** Results of the checks before a step that is due, by the id of the ramp. */
  readonly checks: ReadonlyMap<string, readonly CheckStanding[]>;
}

export interface Moment {
  /** The specs with plain shares; fields that the time decides say so in `timed`. */
  readonly desired: BoundDesired;
  /** The standing of each ramp, by definition. */
  readonly ladders: ReadonlyMap<ObjectId, readonly Ladder[]>;
  /** The environments where only kills and restores may go, by name. */
  readonly closed: ReadonlyMap<string, Closed>;
  /** When the next step, or the next check of one, is due, in milliseconds since the epoch; null if none is. */
  readonly nextDueMs: number | null;
  /** For a further look of the same run, which adds a newer state and observation. */
  readonly facts: Facts;
  readonly nowMs: number;
}

/**
 * What git says should be live at a moment. Each rule with a ramp gets the share of the step that is due, but never less
 * than the share last found equal, or the live one if none was; a share stays while its steps are held, while the flag
 * is killed, and beyond the last step. Pure; applying it to its own result changes nothing.
 */
export function desiredAt(desired: BoundDesired, facts: Facts, nowMs: number): Moment {
  const ladders = new Map<ObjectId, readonly Ladder[]>();
  const killed = new Set(facts.killed);
  const setbacks = new Map(facts.setbacks);
  const now = withDefinitions(desired, (definition, ramps, name, environment) => {
    const id = objectId({ kind: 'flag', name, environment });
    if (idIn(facts, environment) === undefined) return definition;
    const sides = sidesOf(facts, name, environment);
    if (facts.ordered.has(id) || sides.isKilled) killed.add(id);
    const own = laddersOf(ramps, { name, environment }, { desired, facts, nowMs })
      .map((each) => (killed.has(id) ? { ...each, isKilled: true } : each))
      .map((each) => {
        const seen = facts.actual && sides;
        const setback = facts.setbacks.get(each.id) ?? setbackOf(each, seen, nowMs);
        if (facts.ordered.has(id)) return each;
        if (setback === undefined) return facts.lowers ? each : keptBeyond(each, sides);
        setbacks.set(each.id, setback);
        return setBack(each, setback);
      });
    ladders.set(id, own);
    let { fields, creation } = definition;
    let ordered = fields;
    for (const ladder of own) {
      const { setback, isBeyond, ...rest } = ladder;
      const { ramp } = ladder;
      const buckets = rampedBuckets(ramp, shareNow(ladder, sides));
      fields = withBuckets(fields, ramp, buckets);
      creation = withBuckets(creation, ramp, buckets);
      const due = setback || isBeyond ? { ...rest, held: null, isKilled: false } : ladder;
      ordered = withBuckets(ordered, ramp, rampedBuckets(ramp, shareNow(due, sides)));
    }
    return { ...definition, fields, creation, timed: timedFields(own, fields, ordered, sides) };
  });
  const closed = closedAt(desired, nowMs);
  const known = { ...facts, killed, setbacks };
  return { desired: now, ladders, closed, nextDueMs: nextDue(ladders), facts: known, nowMs };
}

function withDefinitions<T extends Desired>(
  desired: T,
  change: (
    definition: DesiredDefinition,
    ramps: readonly DesiredRamp[],
    flag: string,
    environment: string,
  ) => DesiredDefinition,
): T {
  const flags = new Map<string, DesiredFlag>();
  for (const [name, flag] of desired.flags) {
    if (![...flag.environments.values()].some(({ ramps }) => ramps !== undefined)) continue;
    const changed = [...flag.environments].map(([place, each]) => {
      return [place, each.ramps ? change(each, each.ramps, name, place) : each] as const;
    });
    flags.set(name, { ...flag, environments: new Map(changed) });
  }
  return flags.size === 0 ? desired : { ...desired, flags: new Map([...desired.flags, ...flags]) };
}

function laddersOf(
  ramps: readonly DesiredRamp[],
  { name, environment }: { readonly name: string; readonly environment: string },
  { desired, facts, nowMs }: Pick<Moment, 'desired' | 'facts' | 'nowMs'>,
): Ladder[] {
  const { records, ordered, checks } = facts;
  const id = objectId({ kind: 'flag', name, environment });
  const place = idIn(facts, environment) ?? '';
  const calendar = calendarIn(desired, environment);
  const left = leftIn(records, rampId(name, place, ''), ramps);
  return ramps.map((ramp) => {
    const key = rampId(name, place, ramp.key);
    const known = ownMember(records, key);
    // How far one treatment came says nothing of another: that one's ramp is new.
    const isOther = known?.treatment !== undefined && known.treatment !== ramp.treatment;
    const record = isOther ? undefined : known;
    const facing = { ...facts, id: key, nowMs, record, isKilled: ordered.has(id) };
    const ladder = ladderOf(ramp, facing, calendarsOf(ramp, desired.config, calendar));
    const heirOf = record === undefined ? left.get(ramp.key) : undefined;
    const own = heirOf === undefined ? ladder : { ...ladder, heirOf };
    return checkedBy(own, checks.get(key), nowMs);
  });
}

/**
 * Finds renamed ramps. A ramp of a rule without a name is known by its condition, which may have changed: maps a new
 * ramp to the one with equal steps that left the specs, if there is just one of each.
 */
function leftIn(
  records: RampRecords,
  prefix: string,
  ramps: readonly DesiredRamp[],
): ReadonlyMap<string, string> {
  const isNameless = (key: string): boolean => key.startsWith('if ');
  const keys = new Set(ramps.map(({ key }) => key));
  const left = Object.entries(records).flatMap(([id, { ladder }]) => {
    const key = id.slice(prefix.length);
    const isLeft = id.startsWith(prefix) && isNameless(key) && !keys.has(key);
    return isLeft ? [{ key, ladder }] : [];
  });
  const come = ramps.filter(({ key }) => isNameless(key) && !Object.hasOwn(records, prefix + key));
  return new Map(
    come.flatMap(({ key, ...ramp }): [string, string][] => {
      const form = formOf(ramp);
      const [one, ...more] = left.filter(({ ladder }) => ladder === form);
      const isAlone = come.filter((each) => formOf(each) === form).length === 1;
      return one && more.length === 0 && isAlone ? [[key, one.key]] : [];
    }),
  );
}

const AGAIN_MS = 300_000;

function checkedBy(
  ladder: Ladder,
  checks: readonly CheckStanding[] | undefined,
  nowMs: number,
): Ladder {
  if (checks === undefined) return ladder;
  const failed = checks.filter(({ result }) => result === 'failed');
  if (failed.length === 0) return { ...ladder, checks };
  return { ...ladder, checks, held: failureText(failed), againMs: nowMs + AGAIN_MS };
}

function nextDue(ladders: Moment['ladders']): number | null {
  const moments = [...ladders.values()]
    .flat()
    .flatMap(({ dueMs, step, held, againMs }) => (held === null ? dueMs[step + 1] : againMs) ?? []);
  return moments.length === 0 ? null : Math.min(...moments);
}

interface StepToCheck {
  readonly id: ObjectId;
  /** Id of the ramp, as in `Facts.checks`. */
  readonly key: string;
  readonly checks: readonly string[];
}

/** The steps with checks that are due and not taken yet. */
export function stepsToCheck({ ladders, facts }: Moment): StepToCheck[] {
  return [...ladders].flatMap(([id, own]) => {
    const { name = '', environment } = refOfId(id) ?? {};
    const { base } = sidesOf(facts, name, environment ?? '');
    return own.flatMap(({ id: key, ramp, step, held }): StepToCheck[] => {
      const due = ramp.steps[step]?.percent;
      const { checks } = ramp;
      if (checks === undefined || held !== null || facts.ordered.has(id)) return [];
      if (due === undefined || (base && shareIn(base, ramp)) === due) return [];
      return [{ id, key, checks }];
    });
  });
}

/** The buckets that the rules of ramps that no run has begun get with the last step, by definition. */
export function bucketsAtLast({
  ladders,
}: Pick<Moment, 'ladders'>): Map<ObjectId, { rule: number | null; buckets: Bucket[] }[]> {
  const found = [...ladders].map(([id, own]) => {
    const begins = own.filter(({ ramp, record }) => record?.ladder !== formOf(ramp));
    const last = begins.map(({ ramp }) => {
      const buckets = rampedBuckets(ramp, ramp.steps.at(-1)?.percent ?? 0);
      return { rule: ramp.rule, buckets };
    });
    return [id, last] as const;
  });
  return new Map(found.filter(([, last]) => last.length > 0));
}

export type Startless = 'before' | 'end' | number;

/**
 * The specs as they apply at a moment, provided that no step fails or is delayed.
 *
 * @param startless assumed position of a ramp without a time as its `start`, which begins with a run that no file knows.
 *   A number is its assumed beginning, in milliseconds since the epoch.
 */
export function desiredUndelayed(desired: Desired, ms: number, startless: Startless): Desired {
  return withDefinitions(desired, (definition, ramps, _, environment) => {
    const calendar = calendarIn(desired, environment);
    let { creation } = definition;
    for (const ramp of ramps) {
      const start = ramp.startMs ?? startless;
      if (start === 'before' || ramp.hold) continue;
      const calendars = calendarsOf(ramp, desired.config, calendar);
      const due =
        start === 'end' ? -1 : stepAt(dueMoments(ramp, { sinceMs: start }, calendars), ms);
      const step = start === 'end' ? ramp.steps.at(-1) : ramp.steps[due];
      if (step) creation = withBuckets(creation, ramp, rampedBuckets(ramp, step.percent));
    }
    return { ...definition, creation };
  });
}
