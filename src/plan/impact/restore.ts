import type { FlagImpact } from '../../model/impact.js';
import type { Change } from '../../model/plan.js';
import { plannedKind } from '../objects/kinds.js';
import { flagAnalysis } from './analysis.js';
import type { EnvironmentSides, FlagSides, ListSides } from './environment-sides.js';
import { flagImpact } from './flag-impact.js';

/**
 * The reach of a restore of the changed flag once the plan is applied: from the default treatment, which a killed flag
 * serves to every key, to the result of its definition.
 *
 * @returns undefined where the plan does not leave the flag killed, or only kills it: a restore then takes back what
 *   the plan does.
 */
export function impactOfRestore(change: Change, sides: EnvironmentSides): FlagImpact | undefined {
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
