import type { DesiredRamp } from '../../model/flag/ramp.js';
import { type FlagImpact, type Impact, type Range, type Risk, RISKS } from '../../model/impact.js';
import type { ObjectId } from '../../model/ref.js';
import { isKill, type Change, type Plan } from '../../model/plan.js';
import {
  environmentSides,
  type EnvironmentSides,
  type FlagSides,
  type ListSides,
} from './environment-sides.js';
import { segmentList, type ServedDefinition } from './served-definition.js';
import type { PlanInput } from '../input.js';
import { plannedKind } from '../objects/kinds.js';
import type { Distribution } from './distribution.js';
import {
  flagImpact,
  isAffected,
  analyses,
  flagAnalysis,
  type AffectedGroups,
  type FlagAnalysis,
} from './flag-impact.js';
import { movedByRamps, type NewRamps } from './ramp-end.js';
import { isMove, pairOf, WHOLE, type Pair } from './serving.js';
import type { PlannedEnvironment } from '../policy.js';

/**
 * The reach of each change of a plan, when the whole plan is applied. The service lays 100 buckets end to end and gives
 * a key the place that a hash with the definition's own seed says. Patching keeps the seed, so a key keeps its place:
 * the places that get another treatment are known without knowing the seed, and each place is one per cent of the
 * traffic.
 *
 * @param newRamps ramps that no run has begun yet, by definition.
 * @returns an entry for every change of a flag or a segment in an environment.
 */
export function planImpact(
  plan: Plan,
  input: PlanInput,
  newRamps: NewRamps = new Map(),
): ReadonlyMap<ObjectId, Impact> {
  const impacts = environmentSides(plan, input).flatMap((sides) => {
    const found = analyses(sides);
    const dependants = [...found.values()].filter(isDependant);
    const { environment } = sides;
    return plan.changes
      .filter(({ ref }) => ref.environment === environment.name)
      .flatMap((change): [ObjectId, Impact][] => {
        const affected = affectedBy(change, found, dependants);
        return affected
          ? [[change.id, changeImpact(change, affected, sides, newRamps.get(change.id))]]
          : [];
      });
  });
  return new Map(impacts);
}

function changeImpact(
  change: Change,
  affected: readonly AffectedGroups[],
  sides: EnvironmentSides,
  ramps: readonly DesiredRamp[] = [],
): Impact {
  const { environment } = sides;
  const afterRestore = impactOfRestore(change, sides);
  const byRampEnd = ramps.length === 0 ? undefined : movedByRamps(change, ramps, sides);
  const reached = affected
    .map((each) => ({ ...each, impact: flagImpact(each, environment.name) }))
    .filter(({ analysis, impact }) => analysis.sides.change === change || isAffected(impact));
  return {
    flags: reached.map(({ impact }) => impact).filter(isAffected),
    risks: risksOf(change, reached, environment, byRampEnd),
    ...(afterRestore && { afterRestore }),
    ...(byRampEnd && { byRampEnd }),
  };
}

/**
 * The reach of a restore of the changed flag once the plan is applied: from the default treatment, which a killed flag
 * serves to every key, to the result of its definition.
 *
 * @returns undefined where the plan does not leave the flag killed, or only kills it: a restore then takes back what
 *   the plan does.
 */
function impactOfRestore(change: Change, sides: EnvironmentSides): FlagImpact | undefined {
  if (plannedKind(change.ref.kind).reaches !== 'by-definition') return undefined;
  const { name } = change.ref;
  const after = sides.flags.get(name)?.after;
  if (!after?.restored || isKillAlone(change)) return undefined;
  const flags = new Map([...sides.flags].map(([flag, each]) => [flag, leftAlone(each)]));
  flags.set(name, { ...flags.get(name), before: after, after: after.restored });
  const lists = new Map([...sides.lists].map(([list, each]) => [list, filled(each)]));
  const analysis = flagAnalysis(name, { ...sides, flags, lists });
  return flagImpact({ analysis }, sides.environment.name);
}

function isKillAlone({ action, fields }: Change): boolean {
  return action === 'update' && fields.every(({ path }) => path === '/killed');
}

/** A flag as the plan leaves it, unaffected by the restore. */
function leftAlone({ after, seeds }: FlagSides): FlagSides {
  return { before: after, after, ...(seeds && { seeds }) };
}

/** The keys of a list as the plan leaves it. */
function filled({ before, added, removed }: ListSides): ListSides {
  if (added.length + removed.length === 0) return { before, added, removed };
  const gone = new Set(removed);
  return { before: [...before.filter((key) => !gone.has(key)), ...added], added: [], removed: [] };
}

/** Null for a kind of change that affects no key by itself. */
function affectedBy(
  change: Change,
  found: ReadonlyMap<string, FlagAnalysis>,
  dependants: readonly FlagAnalysis[],
): AffectedGroups[] | null {
  switch (plannedKind(change.ref.kind).reaches) {
    case 'by-definition':
      return affectedByFlags(change, found, dependants);
    case 'by-keys':
      return affectedByKeys(change, found);
    case 'nobody':
      return null;
  }
}

/** Flags that depend on another flag and do not change themselves: they are reported with that flag. */
function isDependant({ audience, sides }: FlagAnalysis): boolean {
  return audience.flags.size > 0 && !sides.change;
}

/** The flag itself, and those that depend on it. */
function affectedByFlags(
  { ref }: Change,
  found: ReadonlyMap<string, FlagAnalysis>,
  dependants: readonly FlagAnalysis[],
): AffectedGroups[] {
  const own = found.get(ref.name);
  const others = dependants.filter(
    ({ flag, audience }) => flag !== ref.name && audience.flags.has(ref.name),
  );
  return [...(own ? [own] : []), ...others].map((analysis) => ({ analysis }));
}

/**
 * Every flag that uses the segment, with the keys that the segment gains or loses. Leaves out created and deleted
 * flags, which serve all keys something else: their own change reports that.
 */
function affectedByKeys(
  { ref }: Change,
  found: ReadonlyMap<string, FlagAnalysis>,
): AffectedGroups[] {
  const list = segmentList(ref.name);
  return [...found.values()]
    .filter(({ audience, sides }) => audience.lists.has(list) && sides.before && sides.after)
    .map((analysis) => ({
      analysis,
      affected: ({ lists }) => (lists.get(list) ?? 'kept') !== 'kept',
    }));
}

/** Per cent of the traffic that is most of it. */
const MOST = 50;
/** Risks that already say that most of the traffic gets something else. */
const SAY_MORE: readonly Risk[] = ['all-of-production', 'kills', 'default-changed-while-killed'];

/** In the order of `RISKS`, without repetitions. */
function risksOf(
  change: Change,
  felt: readonly AffectedGroups[],
  environment: PlannedEnvironment,
  byRampEnd: Range | undefined,
): Risk[] {
  const found = new Set(felt.flatMap((each) => flagRisks(each, environment)));
  if (change.fields.some((field) => field.before !== undefined && isKill(field)))
    found.add('kills');
  if (environment.protected && byRampEnd && byRampEnd.atMost >= MOST) found.add('ramp-ends');
  if (SAY_MORE.some((risk) => found.has(risk))) found.delete('most-of-production');
  return RISKS.filter((risk) => found.has(risk));
}

function flagRisks(
  { analysis, affected }: AffectedGroups,
  environment: PlannedEnvironment,
): Risk[] {
  const { sides, traffic, groups } = analysis;
  const { before, after } = sides;
  const isMost = before && !affected && traffic.moved.most >= (MOST / 100) * WHOLE;
  const most = environment.protected && isMost ? (['most-of-production'] as const) : [];
  if (!after) return [...most];
  const counted = affected ? groups.filter(({ group }) => affected(group)) : groups;
  const distributions = counted.map(({ shift }) => shift);
  const moving = affected ? distributions : [traffic, ...distributions];
  return [
    ...(environment.protected && reachesAll(traffic, after)
      ? (['all-of-production'] as const)
      : []),
    ...most,
    ...(before && moving.some((distribution) => movesVariants(distribution, before, after))
      ? (['moves-between-variants'] as const)
      : []),
    ...(before && changesDefaultWhileKilled(before, after)
      ? (['default-changed-while-killed'] as const)
      : []),
    ...(servesNobody(analysis, after) ? (['serves-nobody'] as const) : []),
  ];
}

function reachesAll(traffic: Distribution, after: ServedDefinition): boolean {
  const pairs = possiblePairs(traffic);
  const [first, ...others] = [...new Set(pairs.map(({ to }) => to?.treatment ?? null))];
  if (first === undefined || others.length > 0) return false;
  if (first === null || first === after.whole.fields.defaultTreatment) return false;
  return pairs.some(isMove);
}

function movesVariants(
  distribution: Distribution,
  before: ServedDefinition,
  after: ServedDefinition,
): boolean {
  const [old, now] = [before, after].map(({ whole }) => whole.fields.defaultTreatment);
  return possiblePairs(distribution).some(
    ({ from, to }) =>
      from !== null &&
      to !== null &&
      from.treatment !== to.treatment &&
      from.treatment !== old &&
      to.treatment !== now,
  );
}

function changesDefaultWhileKilled(before: ServedDefinition, after: ServedDefinition): boolean {
  const [old, now] = [before.whole.fields, after.whole.fields];
  return old.killed && now.killed && old.defaultTreatment !== now.defaultTreatment;
}

/** A flag that names only its default treatment is meant to serve nothing else. */
function servesNobody(
  { traffic, groups, keysLeft }: FlagAnalysis,
  { whole: { fields, segments } }: ServedDefinition,
): boolean {
  const { killed, defaultTreatment, rules, defaultRule, targets } = fields;
  if (killed || keysLeft > 0) return false;
  const named = [
    ...[...rules.map(({ buckets }) => buckets), defaultRule].flat().map((each) => each.treatment),
    ...Object.keys(targets).filter((treatment) => targets[treatment]?.length !== 0),
    ...Object.keys(segments).filter((treatment) => segments[treatment]?.length !== 0),
  ];
  if (named.every((treatment) => treatment === defaultTreatment)) return false;
  return [traffic, ...groups.map(({ shift }) => shift)].every(
    (distribution) =>
      distribution.whole &&
      possiblePairs(distribution).every(({ to }) => to?.treatment === defaultTreatment),
  );
}

function possiblePairs({ pairs }: Distribution): Pair[] {
  return [...pairs.keys()].map(pairOf);
}
