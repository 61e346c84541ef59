import type { Config, Guards } from '../model/desired.js';
import type { Change, GuardFinding, Plan } from '../model/plan.js';
import type { State } from '../model/state.js';
import type { PlanPolicy } from './policy.js';

/** What holds where the config says nothing. */
export const DEFAULT_GUARDS: Required<Guards> = {
  maxDeletes: 5,
  maxDeletePercent: 30,
  maxKeyRemovals: 500,
  maxKeyRemovalPercent: 20,
};

/** Of fewer objects or keys than this, a share says nothing. */
const FEW = 10;

/**
 * The guards that a plan runs into, each with its figure: for every environment, and for the workspace level
 * (`environment` null). Empty: nothing stands against the plan.
 */
export function guardFindings(
  plan: Plan,
  { config, policy, state }: { config: Config; policy: PlanPolicy; state: State },
): GuardFinding[] {
  const places = [
    { environment: null, id: null, guards: config.guards },
    ...policy.environments.map(({ configName, name, id }) => ({
      environment: name,
      id,
      guards: {
        ...config.guards,
        ...config.environments.find((each) => each.name === configName)?.guards,
      },
    })),
  ];
  return places.flatMap(({ environment, id, guards }) => {
    const changes = plan.changes.filter(({ ref }) => ref.environment === environment);
    const limits = { ...DEFAULT_GUARDS, ...guards };
    return [
      ...deletionFindings(changes, inventorySize(state, id), limits),
      ...changes.flatMap((change) => keyFindings(change, keysBefore(change, id, state), limits)),
    ].map((finding) => ({ ...finding, environment }));
  });
}

type Finding = Omit<GuardFinding, 'environment'>;

function deletionFindings(
  changes: readonly Change[],
  inventory: number,
  limits: Required<Guards>,
): Finding[] {
  const deletes = changes.filter(
    ({ action }) => action === 'delete' || action === 'deactivate',
  ).length;
  const percent = inventory < FEW ? 0 : Math.floor((deletes * 100) / inventory);
  return over('maxDeletes', deletes, limits).concat(over('maxDeletePercent', percent, limits));
}

function keyFindings({ keys }: Change, before: number, limits: Required<Guards>): Finding[] {
  const removed = keys?.removed.length ?? 0;
  const percent = before < FEW ? 0 : Math.floor((removed * 100) / before);
  return over('maxKeyRemovals', removed, limits).concat(
    over('maxKeyRemovalPercent', percent, limits),
  );
}

function over(guard: keyof Guards, found: number, limits: Required<Guards>): Finding[] {
  return found > limits[guard] ? [{ guard, found, limit: limits[guard] }] : [];
}

/** Objects of ours in one environment, or at workspace level. */
function inventorySize(state: State, environmentId: string | null): number {
  return [...state.values()].filter((entry) =>
    environmentId === null
      ? entry.workspace !== undefined
      : entry.environments[environmentId] !== undefined,
  ).length;
}

function keysBefore({ ref, keys }: Change, environmentId: string | null, state: State): number {
  const entry = state.get(`${ref.kind}/${ref.name}`);
  const base =
    entry?.kind === 'segment' && environmentId !== null
      ? entry.environments[environmentId]
      : undefined;
  return base?.spec?.keys?.count ?? keys?.removed.length ?? 0;
}
