import type { ObjectRef } from '../../model/object-id.js';
import type { Change } from '../../model/plan.js';
import type { PlanInput } from '../plan-input.js';
import type { PlannedEnvironment } from '../policy.js';
import { namesIn, namesInLive } from '../uses.js';

/**
 * Names of the flags that may serve something else once the changes are made in an environment: those that change, and
 * those whose definition asks about one of these or about a segment that changes, by way of any number of flags.
 */
export function flagsConcerned(
  environment: PlannedEnvironment,
  changes: readonly Change[],
  input: PlanInput,
): Set<string> {
  const here = changes.filter(({ ref }) => ref.environment === environment.name);
  const concerned = new Set(here.filter(isOfFlag).map(({ ref }) => ref.name));
  const askers = askersIn(environment, input);
  const reached = new Set(here.map(({ ref }) => keyOf(ref)));
  // A set that grows while it is walked is walked to its new end.
  for (const key of reached) {
    for (const flag of askers.get(key) ?? []) {
      concerned.add(flag);
      reached.add(keyOf({ kind: 'flag', name: flag }));
    }
  }
  return concerned;
}

function isOfFlag({ ref }: Change): boolean {
  return ref.kind === 'flag';
}

function keyOf({ kind, name }: Pick<ObjectRef, 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}

/** `KIND/NAME` → the flags whose definitions name it before the plan. */
function askersIn(environment: PlannedEnvironment, input: PlanInput): Map<string, string[]> {
  const askers = new Map<string, string[]>();
  const add = (flag: string): void => {
    for (const key of namedBefore(flag, environment, input)) {
      const known = askers.get(key);
      if (known) known.push(flag);
      else askers.set(key, [flag]);
    }
  };
  const { desired, actual } = input;
  for (const flag of desired.flags.keys()) add(flag);
  for (const flag of actual.flags.keys()) if (!desired.flags.has(flag)) add(flag);
  return askers;
}

/** By the same rule as the definition itself is found: see `definitionBefore`. */
function namedBefore(
  name: string,
  environment: PlannedEnvironment,
  { actual, desired, state }: PlanInput,
): readonly string[] {
  const live = actual.flags.get(name)?.definitions.get(environment.name);
  if (live === null) return [];
  if (live) return namesInLive(live);
  const spec = desired.flags.get(name)?.environments.get(environment.configName);
  if (!spec) return [];
  const entry = state.get(`flag/${name}`);
  const base = entry?.kind === 'flag' ? entry.environments[environment.id]?.spec : undefined;
  return base ? namesIn(base.rules ?? spec.creation.rules) : [];
}
