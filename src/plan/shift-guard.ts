import type { Config } from '../model/desired.js';
import type { FlagImpact, Impact } from '../model/impact.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { GuardFinding, Plan } from '../model/plan.js';
import { limitsOf } from './guards.js';
import { planImpact } from './impact.js';
import type { PlanInput } from './plan-input.js';

/**
 * The flags that may serve more of an environment's traffic another treatment than `maxShift` allows, by the worst that
 * is possible. What a flag that is made serves is no shift, and what a kill does is held up by no guard.
 *
 * @param impacts of the plan; @param config that whose guards hold.
 */
export function shiftFindings(
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
  config: Config,
): GuardFinding[] {
  const counted = plan.changes.some(isKill) ? planImpact(plan, afterKills(plan, input)) : impacts;
  const flags = new Map<ObjectId, FlagImpact>();
  for (const { flags: felt } of counted.values()) {
    for (const each of felt) {
      const id = objectId({ kind: 'flag', name: each.flag, environment: each.environment });
      const other = flags.get(id);
      if (!other || each.traffic.atMost > other.traffic.atMost) flags.set(id, each);
    }
  }
  return input.policy.environments.flatMap((environment) => {
    const limit = limitsOf(config, environment).maxShift;
    return [...flags]
      .filter(([, each]) => each.environment === environment.name && !isMade(each))
      .map(([id, each]) => ({ id, found: each.traffic.atMost }))
      .filter(({ found }) => found > limit)
      .map(({ id, found }) => {
        return { guard: 'maxShift' as const, environment: environment.name, id, found, limit };
      });
  });
}

function isMade({ moves }: FlagImpact): boolean {
  return moves.length > 0 && moves.every(({ from }) => from === null);
}

function isKill({ fields }: Plan['changes'][number]): boolean {
  return fields.some(
    ({ path, before, after }) => path === '/killed' && before === false && after === true,
  );
}

/** What was looked at, as the kills of the plan leave it. */
function afterKills(plan: Plan, input: PlanInput): PlanInput {
  const killed = new Set(plan.changes.filter(isKill).map(({ id }) => id));
  const flags = [...input.actual.flags].map(([name, flag]) => {
    const definitions = [...flag.definitions].map(([environment, live]) => {
      const isKilled = killed.has(objectId({ kind: 'flag', name, environment }));
      return [environment, live && isKilled ? { ...live, killed: true } : live] as const;
    });
    return [name, { ...flag, definitions: new Map(definitions) }] as const;
  });
  return { ...input, actual: { ...input.actual, flags: new Map(flags) } };
}
