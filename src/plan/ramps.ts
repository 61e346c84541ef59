import type { WireDefinition } from '../admin-api/wire.js';
import type { DesiredDefinition } from '../model/desired.js';
import type { Bucket, Definition, Matcher, Rule } from '../model/flag/flag.js';
import {
  bucketsOn,
  rampedBuckets,
  rampId,
  rampKey,
  shareOnRamp,
  shareOf,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import { canonicalDefinition, definitionFromWire } from '../model/flag/wire.js';
import { canonicalJson, sameJson, type Json } from '../model/json.js';
import type { FieldChange, Reason } from '../model/plan.js';
import { refOfId, type ObjectId } from '../model/ref.js';
import { flagEntry, type RampRecords, type State } from '../model/state.js';
import type { PlanInput } from './input.js';
import { isKillOrdered } from './kills/orders.js';
import { isPlanned, type PlanPolicy, type WithheldReason } from './policy.js';

/** Ramps of definitions, at the moment of the plan. */
export type Ladders = ReadonlyMap<ObjectId, readonly Ladder[]>;

/**
 * The input with the step that is due in each rule with a ramp. The share is never less than the one last found equal,
 * or the live one if the state has none; it stays while steps are held and while the flag is killed. A second call
 * changes nothing more.
 */
export function onLadders(input: PlanInput): PlanInput {
  const { ladders } = input.policy;
  if (ladders === undefined || ladders.size === 0) return input;
  const flags = new Map(input.desired.flags);
  const stopped = new Map(ladders);
  for (const [id, all] of ladders) {
    const { name = '', environment } = refOfId(id) ?? {};
    const flag = flags.get(name);
    const definition = environment ? flag?.environments.get(environment) : undefined;
    if (!flag || !environment || !definition) continue;
    const sides = sidesOf(input, name, environment);
    // A kill that this run takes back still counts in its verification: one run must not move a share twice.
    const own = sides.isKilled ? all.map((each) => ({ ...each, isKilled: true })) : all;
    stopped.set(id, own);
    const environments = new Map(flag.environments);
    environments.set(environment, settled(definition, own, sides));
    flags.set(name, { ...flag, environments });
  }
  const policy = { ...input.policy, ladders: stopped };
  return { ...input, policy, desired: { ...input.desired, flags } };
}

/** The other sides of a definition. */
interface Sides {
  /** Canonical; undefined if the service has none, or was not asked. */
  readonly live: Definition | undefined;
  readonly base: Definition | undefined;
  /** By git or on the service. */
  readonly isKilled: boolean;
}

function sidesOf(
  { desired, actual, state, policy }: PlanInput,
  name: string,
  place: string,
): Sides {
  const wire = actual.flags.get(name)?.definitions.get(place);
  const id = policy.environments.find((each) => each.name === place)?.id ?? '';
  return {
    live: wire ? definitionFromWire(wire) : undefined,
    base: flagEntry(state, name)?.environments[id]?.spec,
    isKilled: isKillOrdered(desired, name, place) || wire?.killed === true,
  };
}

function settled(
  definition: DesiredDefinition,
  ladders: readonly Ladder[],
  sides: Sides,
): DesiredDefinition {
  let { fields, creation } = definition;
  for (const ladder of ladders) {
    const buckets = rampedBuckets(ladder.ramp, shareNow(ladder, sides));
    fields = withBuckets(fields, ladder.ramp, buckets);
    creation = withBuckets(creation, ladder.ramp, buckets);
  }
  return { ...definition, fields, creation };
}

/** The share that the treatment of a ramp should have now. */
function shareNow(ladder: Ladder, { live, base }: Sides): number {
  const { ramp, step, held, isKilled } = ladder;
  const reached = reachedOn(ladder, base) ?? (live && shareOn(live, ramp));
  const written = shareOf(ramp.written, ramp.treatment);
  if (held !== null || isKilled) return reached ?? written;
  const due = ramp.steps[step]?.percent ?? written;
  return Math.max(due, reached ?? 0);
}

/** The share of a ramp that was last found equal; undefined if the state has none. */
function reachedOn({ ramp, record, heirOf }: Ladder, base: Definition | undefined) {
  if (record !== undefined) return record.reached;
  if (base === undefined) return undefined;
  return shareOn(base, ramp) ?? (heirOf === undefined ? undefined : shareLeft(base, ramp, heirOf));
}

/** The share of a ramp's treatment in a definition, on the ramp's way or not; undefined if it lacks the rule. */
function shareOn(side: Definition, ramp: DesiredRamp): number | undefined {
  const buckets = bucketsOn(side, ramp);
  return buckets && shareOf(buckets, ramp.treatment);
}

/**
 * The share of an unnamed rule that left the specs when a rule with an equal ramp and the same subject came: its
 * condition was edited. A rule with another subject is a new rule and inherits nothing.
 */
function shareLeft(
  { rules = [] }: Definition,
  { matchers, treatment }: DesiredRamp,
  key: string,
): number | undefined {
  const asked = new Set(matchers.map(subjectOf));
  const left = rules.find((each) => rampKey(undefined, each.matchers) === key);
  const isSame = left?.matchers.some((each) => asked.has(subjectOf(each))) ?? false;
  return left && isSame ? shareOf(left.buckets, treatment) : undefined;
}

/** The attribute that a matcher compares; of a matcher without one, all of it. */
function subjectOf({ attribute, ...rest }: Matcher): string {
  return typeof attribute === 'string' ? attribute : canonicalJson(rest);
}

/** The share of a rule that stands somewhere on the way of a ramp; undefined if it does not. */
export function shareIn(side: Definition | undefined, ramp: DesiredRamp): number | undefined {
  const buckets = side && bucketsOn(side, ramp);
  return buckets && shareOnRamp(ramp, buckets);
}

/**
 * The memory of ramps after a run: for observed ones, from their ladders and the shares that the state has as equal by
 * now; others keep theirs. Ramps that left the specs are forgotten.
 *
 * @param state after the run.
 * @param restored definitions whose kill the run took back: their next wait counts from this run.
 */
export function rampsAfter(
  { desired, actual, policy }: PlanInput,
  state: State,
  { known, restored }: { readonly known: RampRecords; readonly restored: ReadonlySet<ObjectId> },
): RampRecords {
  // A suspended run starts no ramp, because it writes nothing.
  if (policy.suspended !== null) return known;
  const next = new Map(Object.entries(known).filter(([id]) => !isLookedAt(id, policy)));
  for (const [id, own] of policy.ladders ?? []) {
    const { name = '', environment } = refOfId(id) ?? {};
    const place = policy.environments.find((each) => each.name === environment);
    if (!environment || !place?.selected || !isPlanned(policy, 'flag', name)) continue;
    const said = desired.flags.get(name)?.environments.get(environment)?.fields ?? {};
    const base = flagEntry(state, name)?.environments[place.id]?.spec;
    const wire = actual.flags.get(name)?.definitions.get(environment);
    const live = wire ? definitionFromWire(wire) : undefined;
    for (const ladder of own) {
      const { ramp, anchors, isKilled, record } = ladder;
      const key = rampId(name, place.id, ramp.key);
      const before = record ?? known[key];
      const reached = isEqualOn(base, said, ramp)
        ? shareOn(said, ramp)
        : (reachedOn(ladder, base) ?? (live && shareOn(live, ramp)));
      const anchor = anchors?.[isKilled && !restored.has(id) ? 'killed' : 'alive'];
      if (anchor) next.set(key, { ...anchor, reached: reached ?? 0 });
      else if (before) next.set(key, before);
    }
  }
  return Object.fromEntries([...next].sort());
}

function isLookedAt(id: string, policy: PlanPolicy): boolean {
  const [, flag = '', environmentId] = /^([^@]*)@(\S*) /.exec(id) ?? [];
  const place = policy.environments.find((each) => each.id === environmentId);
  return place?.selected === true && isPlanned(policy, 'flag', flag);
}

/** Whether a field was found as the run wanted it. */
function isEqualOn(base: Definition | undefined, said: Definition, ramp: DesiredRamp): boolean {
  const [was, is] = [base, said].map((side) => {
    const { rules, defaultRule } = canonicalDefinition(side ?? {});
    return (ramp.rule === null ? defaultRule : rules) ?? null;
  });
  return was !== null && sameJson(was, is);
}

/** A definition with the buckets of a ramp's rule replaced. */
export function withBuckets<T extends Definition>(
  side: T,
  { rule }: Pick<DesiredRamp, 'rule'>,
  buckets: readonly Bucket[],
): T {
  if (rule === null) return side.defaultRule ? { ...side, defaultRule: buckets } : side;
  if (!side.rules) return side;
  const rules: readonly Rule[] = side.rules.map((each, at) =>
    at === rule ? { ...each, buckets } : each,
  );
  return { ...side, rules };
}

/** The path of the field that contains the ramp. */
function pathOf({ rule }: DesiredRamp): string {
  return rule === null ? '/defaultRule' : '/rules';
}

/**
 * If the only difference is a ramp's share, gives it the fitting reason: a step if the service has the share last found
 * equal, drift if it was changed there. A step is no commit, so it never causes a conflict.
 *
 * @param base the field last found equal; undefined if it never was.
 */
export function rampedChange(
  change: FieldChange,
  { ramps = [] }: Pick<DesiredDefinition, 'ramps'>,
  base: Json | undefined,
): FieldChange {
  const own = ramps.filter((ramp) => pathOf(ramp) === change.path);
  if (own.length === 0 || base === undefined) return change;
  const isAlong = sameJson(withoutShares(own, base), withoutShares(own, change.after));
  if (!isAlong) return change;
  const reason: Reason = sameJson(base, change.before) ? 'ramp' : 'drift';
  return { ...change, reason };
}

/** A field without the shares of ramps that stand on their way. */
function withoutShares(ramps: readonly DesiredRamp[], value: unknown): unknown {
  const [first] = ramps;
  if (first?.rule === null) return onRamp(first, value as readonly Bucket[]);
  const rules = value as readonly Rule[];
  return rules.map((each, at) => {
    const ramp = ramps.find(({ rule }) => rule === at);
    return ramp ? { ...each, buckets: onRamp(ramp, each.buckets) } : each;
  });
}

function onRamp(ramp: DesiredRamp, buckets: readonly Bucket[]): unknown {
  return shareOnRamp(ramp, buckets) === undefined ? buckets : 'on the ramp';
}

/**
 * Why a difference of a ramp's share must not be written: the live share was moved back, or beyond the step. Undefined
 * otherwise.
 *
 * @param live the definition on the service.
 * @param base the definition last found equal.
 */
export function rampHold(
  { path }: FieldChange,
  { ramps = [], fields }: Pick<DesiredDefinition, 'ramps' | 'fields'>,
  { live, base }: { readonly live: WireDefinition; readonly base: Definition | undefined },
): WithheldReason | undefined {
  const there = definitionFromWire(live);
  for (const ramp of ramps.filter((each) => pathOf(each) === path)) {
    const [now, known, wanted] = [there, base, fields].map((side) => shareIn(side, ramp));
    if (now === undefined || wanted === undefined) continue;
    if (now > wanted)
      return held(ramp, `is at ${now} % on the service, beyond the step of ${wanted} %`);
    if (known !== undefined && now < known)
      return held(ramp, `went back from ${known} to ${now} % on the service`);
  }
  return undefined;
}

function held({ treatment }: DesiredRamp, what: string): WithheldReason {
  const wayOut = `"${treatment}" ${what}, and the ramp waits; take the ramp out of the spec and write what shall be, or run with --revert-drift`;
  return { why: 'ramp-held', wayOut };
}
