import type { WireDefinition } from '../admin-api/wire.js';
import type { DesiredDefinition } from '../model/desired.js';
import type { Bucket, Definition, Rule } from '../model/flag/flag.js';
import {
  rampedBuckets,
  shareOnRamp,
  shareOf,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import { definitionFromWire } from '../model/flag/wire.js';
import { sameJson, type Json } from '../model/json.js';
import type { FieldChange, Reason } from '../model/plan.js';
import { objectId, type ObjectId } from '../model/ref.js';
import { flagEntry } from '../model/state.js';
import type { PlanInput } from './input.js';
import { isKillOrdered } from './kills/orders.js';
import type { WithheldReason } from './policy.js';

/** Ramps of the definitions that have any, at the moment that the plan is for. */
export type Ladders = ReadonlyMap<ObjectId, readonly Ladder[]>;

/**
 * The input with every ramp where it stands: what a rule with a ramp serves is the step that is due. It is never less than what
 * was last found equal, nor than what is live where nobody went back there; and it stays as it is while steps are held and
 * while the flag is killed. Twice is once.
 */
export function onLadders(input: PlanInput): PlanInput {
  const { ladders } = input.policy;
  if (ladders === undefined || ladders.size === 0) return input;
  const flags = new Map(input.desired.flags);
  for (const [name, flag] of flags) {
    if (![...flag.environments.values()].some(({ ramps }) => ramps)) continue;
    const environments = new Map(flag.environments);
    for (const [environment, definition] of environments) {
      const own = ladders.get(objectId({ kind: 'flag', name, environment }));
      if (own)
        environments.set(environment, settled(definition, own, sidesOf(input, name, environment)));
    }
    flags.set(name, { ...flag, environments });
  }
  return { ...input, desired: { ...input.desired, flags } };
}

/** What else there is of a definition. */
interface Sides {
  /** Canonical; undefined: the service has none, or was not asked. */
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

/** The share that the treatment of a ramp is to have now. */
function shareNow({ ramp, step, held }: Ladder, { live, base, isKilled }: Sides): number {
  const written = shareOf(ramp.written, ramp.treatment);
  const known = shareIn(base, ramp);
  const there = shareIn(live, ramp);
  if (held !== null || isKilled) return known ?? there ?? written;
  const due = ramp.steps[step]?.percent ?? written;
  // Where nobody remembers anything, what is live may be a later step of the same ramp.
  return Math.max(due, known ?? there ?? 0);
}

/** The share with which a rule of this side stands on the way of a ramp; undefined: it does not. */
export function shareIn(side: Definition | undefined, ramp: DesiredRamp): number | undefined {
  const buckets = side && bucketsIn(side, ramp);
  return buckets && shareOnRamp(ramp, buckets);
}

function bucketsIn(
  { rules, defaultRule }: Definition,
  { rule }: DesiredRamp,
): readonly Bucket[] | undefined {
  return rule === null ? defaultRule : rules?.[rule]?.buckets;
}

/** A definition with other buckets where a ramp stands. */
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

/** The path of the field that a ramp is a part of. */
function pathOf({ rule }: DesiredRamp): string {
  return rule === null ? '/defaultRule' : '/rules';
}

/**
 * The difference, where it is one along a ramp, with the reason that fits: a step where the service has what was last found equal,
 * drift where somebody changed it there. Time is no commit, and leaves no conflict.
 *
 * @param base the field as it was last found equal; undefined: it never was.
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

/** A field with each ramp taken out of it that stands somewhere on its way. */
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
 * Why a difference along a ramp must not be written: somebody went back on the service, or beyond the step. Undefined: no such
 * thing stands against it.
 *
 * @param live the definition as the service has it.
 * @param base the same as it was last found equal.
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
