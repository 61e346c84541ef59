import type { Impact } from '../model/impact.js';
import type { ObjectId } from '../model/object-id.js';
import type { Change, Plan } from '../model/plan.js';
import { analyses, type Felt, type FlagAnalysis } from './impact/analysis.js';
import { environmentSides, type EnvironmentSides } from './impact/environment-sides.js';
import { flagImpact, isFelt } from './impact/flag-impact.js';
import { risksOf } from './impact/risks.js';
import { segmentList } from './impact/served-definition.js';
import type { PlanInput } from './plan-input.js';

/**
 * Whom each change of a plan reaches, when the whole plan is applied.
 *
 * The service lays 100 buckets end to end and gives a key the place that a hash with the definition's own seed says.
 * Patching keeps the seed, so a key keeps its place: which places get another treatment is known without knowing the
 * seed, and each place is one per cent of the traffic.
 *
 * @returns an entry for every change of a flag or a segment in an environment.
 */
export function planImpact(plan: Plan, input: PlanInput): ReadonlyMap<ObjectId, Impact> {
  const impacts = environmentSides(plan, input).flatMap((sides) => {
    const found = analyses(sides);
    const { environment } = sides;
    return plan.changes
      .filter(({ ref }) => ref.environment === environment.name && ref.kind !== 'identities')
      .map((change): [ObjectId, Impact] => [change.id, changeImpact(change, found, sides)]);
  });
  return new Map(impacts);
}

function changeImpact(
  change: Change,
  found: ReadonlyMap<string, FlagAnalysis>,
  { environment }: EnvironmentSides,
): Impact {
  const felt = change.ref.kind === 'flag' ? feltByFlags(change, found) : feltByKeys(change, found);
  const reached = felt
    .map((each) => ({ ...each, impact: flagImpact(each, environment.name) }))
    .filter(({ analysis, impact }) => analysis.sides.change === change || isFelt(impact));
  return {
    flags: reached.map(({ impact }) => impact).filter(isFelt),
    risks: risksOf(change, reached, environment),
  };
}

/** The flag itself, and those that hang on it and do not change themselves: they would be told of twice. */
function feltByFlags({ ref }: Change, found: ReadonlyMap<string, FlagAnalysis>): Felt[] {
  const own = found.get(ref.name);
  const others = [...found.values()].filter(
    ({ flag, reach, sides }) => flag !== ref.name && reach.flags.has(ref.name) && !sides.change,
  );
  return [...(own ? [own] : []), ...others].map((analysis) => ({ analysis }));
}

/**
 * Every flag that uses the segment, and of its keys those that the segment gains or loses. A flag that is made or deleted
 * itself serves everybody something else; its own change tells that.
 */
function feltByKeys({ ref }: Change, found: ReadonlyMap<string, FlagAnalysis>): Felt[] {
  const list = segmentList(ref.name);
  return [...found.values()]
    .filter(({ reach, sides }) => reach.lists.has(list) && sides.before && sides.after)
    .map((analysis) => ({
      analysis,
      concerned: ({ lists }) => (lists.get(list) ?? 'kept') !== 'kept',
    }));
}
