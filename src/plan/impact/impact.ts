import { present } from '../../model/collections.js';
import type { Bucket } from '../../model/flag/flag.js';
import { withBuckets } from '../../model/flag/ramp.js';
import { type FlagImpact, type Impact, type Range, type Risk, RISKS } from '../../model/impact.js';
import { sortedSet } from '../../model/json.js';
import type { ObjectId } from '../../model/ref.js';
import { isKill, type Change, type Plan } from '../../model/plan.js';
import {
  environmentSides,
  type EnvironmentSides,
  type FlagSides,
  type ListSides,
} from './environment-sides.js';
import { segmentList, servedDefinition, type ServedDefinition } from './served-definition.js';
import type { PlanInput } from '../input.js';
import { plannedKind } from '../objects/kinds.js';
import type { Distribution } from './distribution.js';
import {
  analyses,
  flagAnalysis,
  flagImpact,
  isAffected,
  partOf,
  type FlagAnalysis,
} from './flag-impact.js';
import { isMove, WHOLE } from './serving.js';
import type { PlannedEnvironment } from '../policy.js';

/** The buckets that some rules of a definition get later, by themselves. `rule` is a position; null is the default rule. */
export type LaterBuckets = readonly {
  readonly rule: number | null;
  readonly buckets: readonly Bucket[];
}[];

interface Felt {
  /** The changed flag, or one that uses the changed object. */
  readonly analysis: FlagAnalysis;
  readonly part: FlagAnalysis;
}

/**
 * The reach of each change of a plan, when the whole plan is applied. The service lays 100 buckets end to end and gives
 * a key the place that a hash with the definition's own seed says. Patching keeps the seed, so a key keeps its place:
 * the places that get another treatment are known without knowing the seed.
 *
 * @param later what the plan begins and later runs finish, by definition.
 * @returns an entry for every change of a flag or a segment in an environment.
 */
export function planImpact(
  plan: Plan,
  input: PlanInput,
  later: ReadonlyMap<ObjectId, LaterBuckets> = new Map(),
): ReadonlyMap<ObjectId, Impact> {
  const impacts = new Map<ObjectId, Impact>();
  if (plan.changes.length === 0) return impacts;
  for (const sides of environmentSides(plan, input)) {
    const found = analyses(sides);
    // Flags that do not change themselves are reported with the flags that they depend on.
    const dependants = [...found.values()].filter(({ sides: { change } }) => !change);
    for (const change of plan.changes) {
      if (change.ref.environment !== sides.environment.name) continue;
      const felt = feltOf(change, found, dependants);
      if (felt) impacts.set(change.id, impactOf(change, felt, sides, later.get(change.id)));
    }
  }
  return impacts;
}

function impactOf(
  change: Change,
  felt: readonly Felt[],
  sides: EnvironmentSides,
  later: LaterBuckets | undefined,
): Impact {
  const { environment } = sides;
  const afterRestore = impactOfRestore(change, sides);
  const atLast = later && movedAtLast(change, later, sides);
  const reached = felt
    .map((each) => ({ ...each, impact: flagImpact(each.part, environment.name) }))
    .filter(({ analysis, impact }) => analysis.sides.change === change || isAffected(impact));
  return {
    flags: reached.map(({ impact }) => impact).filter(isAffected),
    risks: risksOf(change, reached, environment, atLast),
    ...present({ afterRestore, atLast }),
  };
}

/** The traffic that the plan and what it begins move together. Of a new definition, what it begins alone. */
function movedAtLast(
  { ref: { name } }: Change,
  later: LaterBuckets,
  sides: EnvironmentSides,
): Range | undefined {
  const own = sides.flags.get(name);
  if (!own?.after) return undefined;
  const { whole } = own.after;
  const fields = later.reduce(
    (left, { buckets, ...at }) => withBuckets(left, at, buckets),
    whole.fields,
  );
  const sidesAtLast = {
    before: own.before ?? own.after,
    after: servedDefinition({ ...whole, fields }),
  };
  const flags = new Map([...sides.flags, [name, sidesAtLast]]);
  return flagImpact(flagAnalysis(name, { ...sides, flags }), sides.environment.name).traffic;
}

/**
 * From the default treatment, which a killed flag serves to every key, to the result of its definition. Undefined where
 * the plan does not leave the flag killed, or only kills it: a restore then takes back what the plan does.
 */
function impactOfRestore(change: Change, sides: EnvironmentSides): FlagImpact | undefined {
  if (plannedKind(change.ref.kind).reaches !== 'by-definition') return undefined;
  const { name } = change.ref;
  const after = sides.flags.get(name)?.after;
  const isKillAlone = change.fields.every(({ path }) => path === '/killed');
  if (!after?.restored || isKillAlone) return undefined;
  const flags = new Map([...sides.flags].map(([flag, each]) => [flag, leftAlone(each)]));
  flags.set(name, { ...flags.get(name), before: after, after: after.restored });
  const lists = new Map([...sides.lists].map(([list, each]) => [list, filled(each)]));
  return flagImpact(flagAnalysis(name, { ...sides, flags, lists }), sides.environment.name);
}

/** A flag as the plan leaves it, unaffected by the restore. */
function leftAlone({ after, seeds }: FlagSides): FlagSides {
  return { before: after, after, ...(seeds && { seeds }) };
}

function filled({ before, added, removed }: ListSides): ListSides {
  if (added.length + removed.length === 0) return { before, added, removed };
  const gone = new Set(removed);
  const left = [...before.filter((key) => !gone.has(key)), ...added];
  return { before: sortedSet(left), added: [], removed: [] };
}

/** Null for a kind of change that affects no key by itself. */
function feltOf(
  { ref }: Change,
  found: ReadonlyMap<string, FlagAnalysis>,
  dependants: readonly FlagAnalysis[],
): Felt[] | null {
  const list = segmentList(ref.name);
  switch (plannedKind(ref.kind).reaches) {
    case 'by-definition': {
      const own = found.get(ref.name);
      const others = dependants.filter(({ audience }) => audience.flags.has(ref.name));
      return [...(own ? [own] : []), ...others].map((analysis) => ({ analysis, part: analysis }));
    }
    case 'by-keys':
      // The keys that the segment gains or loses. A created or deleted flag reports that it serves all keys anew.
      return [...found.values()]
        .filter(({ audience, sides }) => audience.lists.has(list) && sides.before && sides.after)
        .map((analysis) => {
          const part = partOf(analysis, ({ lists }) => (lists.get(list) ?? 'kept') !== 'kept');
          return { analysis, part };
        });
    case 'nobody':
      return null;
  }
}

const MOST = 50;
/** Risks that already say that most of the traffic gets something else. */
const SAY_MORE: readonly Risk[] = ['all-of-production', 'kills', 'default-changed-while-killed'];

function risksOf(
  change: Change,
  felt: readonly Felt[],
  environment: PlannedEnvironment,
  atLast: Range | undefined,
): Risk[] {
  const found = new Set(felt.flatMap((each) => flagRisks(each, environment)));
  if (change.fields.some((field) => field.before !== undefined && isKill(field)))
    found.add('kills');
  if (environment.protected && atLast && atLast.atMost >= MOST) found.add('ramp-ends');
  if (SAY_MORE.some((risk) => found.has(risk))) found.delete('most-of-production');
  return RISKS.filter((risk) => found.has(risk));
}

function flagRisks({ analysis, part }: Felt, environment: PlannedEnvironment): Risk[] {
  const { sides, traffic } = analysis;
  const { before, after } = sides;
  const isMost = before !== null && part.traffic.moved.most >= (MOST / 100) * WHOLE;
  const found: Risk[] = environment.protected && isMost ? ['most-of-production'] : [];
  if (!after) return found;
  if (environment.protected && reachesAll(traffic, after)) found.push('all-of-production');
  if (servesNobody(analysis, after)) found.push('serves-nobody');
  if (!before) return found;
  const moving = [part.traffic, ...part.groups.map(({ shift }) => shift)];
  if (moving.some((each) => movesVariants(each, before, after))) {
    found.push('moves-between-variants');
  }
  if (changesDefaultWhileKilled(before, after)) found.push('default-changed-while-killed');
  return found;
}

function reachesAll(traffic: Distribution, after: ServedDefinition): boolean {
  const pairs = [...traffic.pairs.values()];
  const [first, ...others] = new Set(pairs.map(({ to }) => to?.treatment));
  if (first === undefined || others.length > 0) return false;
  return first !== after.whole.fields.defaultTreatment && pairs.some(isMove);
}

function movesVariants(
  { pairs }: Distribution,
  before: ServedDefinition,
  after: ServedDefinition,
): boolean {
  const [old, now] = [before, after].map(({ whole }) => whole.fields.defaultTreatment);
  return [...pairs.values()].some(
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

/** A flag that names only its default treatment is meant to serve nothing else. Individual targets always get theirs. */
function servesNobody(
  { traffic, groups, keysLeft }: FlagAnalysis,
  { whole: { fields, segments } }: ServedDefinition,
): boolean {
  const { killed, defaultTreatment, rules, defaultRule } = fields;
  if (killed || keysLeft > 0) return false;
  const named = [
    ...[...rules.map(({ buckets }) => buckets), defaultRule].flat().map((each) => each.treatment),
    ...Object.keys(segments).filter((treatment) => segments[treatment]?.length !== 0),
  ];
  if (named.every((treatment) => treatment === defaultTreatment)) return false;
  return [traffic, ...groups.map(({ shift }) => shift)].every(
    ({ whole, pairs }) =>
      whole && [...pairs.values()].every(({ to }) => to?.treatment === defaultTreatment),
  );
}
