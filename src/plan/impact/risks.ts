import type { Risk } from '../../model/impact.js';
import { RISKS } from '../../model/impact.js';
import type { Change } from '../../model/plan.js';
import type { PlannedEnvironment } from '../policy.js';
import type { Felt, FlagAnalysis } from './analysis.js';
import type { Outlook } from './parts.js';
import type { ServedDefinition } from './served-definition.js';
import { pairOf, type Pair } from './serving.js';

/** In the order of `RISKS`, each once. */
export function risksOf(
  change: Change,
  felt: readonly Felt[],
  environment: PlannedEnvironment,
): Risk[] {
  const found = new Set(felt.flatMap((each) => flagRisks(each, environment)));
  if (change.fields.some(({ path, before, after }) => isKill(path, before, after)))
    found.add('kills');
  return RISKS.filter((risk) => found.has(risk));
}

function isKill(path: string, before: unknown, after: unknown): boolean {
  return path === '/killed' && before !== undefined && after === true;
}

function flagRisks({ analysis, concerned }: Felt, environment: PlannedEnvironment): Risk[] {
  const { sides, traffic, groups } = analysis;
  const { before, after } = sides;
  if (!after) return [];
  const counted = concerned ? groups.filter(({ group }) => concerned(group)) : groups;
  const outlooks = counted.map(({ outlook }) => outlook);
  const moving = concerned ? outlooks : [traffic, ...outlooks];
  return [
    ...(environment.protected && reachesAll(traffic, after)
      ? (['all-of-production'] as const)
      : []),
    ...(before && moving.some((outlook) => movesVariants(outlook, before, after))
      ? (['moves-between-variants'] as const)
      : []),
    ...(before && changesDefaultWhileKilled(before, after)
      ? (['default-changed-while-killed'] as const)
      : []),
    ...(servesNobody(analysis, after) ? (['serves-nobody'] as const) : []),
  ];
}

function reachesAll(traffic: Outlook, after: ServedDefinition): boolean {
  const pairs = possiblePairs(traffic);
  const [first, ...others] = [...new Set(pairs.map(({ to }) => to))];
  if (first === undefined || others.length > 0) return false;
  if (first === null || first === after.whole.fields.defaultTreatment) return false;
  return pairs.some(({ from }) => from !== first);
}

function movesVariants(
  outlook: Outlook,
  before: ServedDefinition,
  after: ServedDefinition,
): boolean {
  const [old, now] = [before, after].map(({ whole }) => whole.fields.defaultTreatment);
  return possiblePairs(outlook).some(
    ({ from, to }) => from !== to && from !== null && to !== null && from !== old && to !== now,
  );
}

function changesDefaultWhileKilled(before: ServedDefinition, after: ServedDefinition): boolean {
  const [old, now] = [before.whole.fields, after.whole.fields];
  return old.killed && now.killed && old.defaultTreatment !== now.defaultTreatment;
}

/** A flag that is off everywhere and names nothing else is as it is meant to be. */
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
  return [traffic, ...groups.map(({ outlook }) => outlook)].every(
    (outlook) => outlook.whole && possiblePairs(outlook).every(({ to }) => to === defaultTreatment),
  );
}

function possiblePairs({ pairs }: Outlook): Pair[] {
  return [...pairs].filter(([, { most }]) => most > 0).map(([key]) => pairOf(key));
}
