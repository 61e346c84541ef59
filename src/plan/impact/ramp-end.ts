import { rampedBuckets, type DesiredRamp } from '../../model/flag/ramp.js';
import type { Range } from '../../model/impact.js';
import type { Change } from '../../model/plan.js';
import type { ObjectId } from '../../model/ref.js';
import type { EnvironmentSides } from './environment-sides.js';
import { flagImpact, flagAnalysis } from './flag-impact.js';
import { servedDefinition } from './served-definition.js';

/** Ramps by their definition. */
export type NewRamps = ReadonlyMap<ObjectId, readonly DesiredRamp[]>;

/** The traffic that the plan and the last steps of ramps move together. Of a new definition the steps alone. */
export function movedByRamps(
  { ref: { name } }: Change,
  ramps: readonly DesiredRamp[],
  sides: EnvironmentSides,
): Range | undefined {
  const own = sides.flags.get(name);
  if (!own?.after) return undefined;
  const { whole } = own.after;
  let { defaultRule, rules } = whole.fields;
  for (const ramp of ramps) {
    const buckets = rampedBuckets(ramp, ramp.steps.at(-1)?.percent ?? 0);
    if (ramp.rule === null) defaultRule = buckets;
    else rules = rules.map((each, at) => (at === ramp.rule ? { ...each, buckets } : each));
  }
  const after = servedDefinition({ ...whole, fields: { ...whole.fields, defaultRule, rules } });
  const flags = new Map([...sides.flags, [name, { before: own.before ?? own.after, after }]]);
  const analysis = flagAnalysis(name, { ...sides, flags });
  return flagImpact({ analysis }, sides.environment.name).traffic;
}
