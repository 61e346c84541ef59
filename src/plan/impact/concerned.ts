import type { DesiredFlag } from '../../model/desired.js';
import type { ObjectRef } from '../../model/object-id.js';
import type { Change } from '../../model/plan.js';
import type { FlagEntry } from '../../model/state.js';
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

/** `KIND/NAME` → the flags whose definitions name it before the plan, as `definitionBefore` finds them. */
function askersIn(
  environment: PlannedEnvironment,
  { actual, desired, state }: PlanInput,
): Map<string, string[]> {
  const askers = new Map<string, string[]>();
  const add = (flag: string, keys: readonly string[]): void => {
    for (const key of keys) {
      const known = askers.get(key);
      if (known) known.push(flag);
      else askers.set(key, [flag]);
    }
  };
  for (const [flag, { definitions }] of actual.flags) {
    const live = definitions.get(environment.name);
    if (live) add(flag, namesInLive(live));
  }
  for (const entry of state.values()) {
    if (entry.kind !== 'flag') continue;
    const isSeen = actual.flags.get(entry.name)?.definitions.has(environment.name) === true;
    if (!isSeen) add(entry.name, namedByBases(entry, desired.flags.get(entry.name)));
  }
  return askers;
}

const namesOfEntry = new WeakMap<FlagEntry, readonly string[]>();

/**
 * What the definitions that are remembered name in any environment, a few more than in this one. An entry never changes,
 * and most are the same from run to run.
 */
function namedByBases(entry: FlagEntry, flag: DesiredFlag | undefined): readonly string[] {
  const known = namesOfEntry.get(entry);
  if (known) return known;
  const bases = Object.values(entry.environments);
  const rules = bases.flatMap(({ spec }) => spec?.rules ?? []);
  const names = [...new Set(namesIn(rules))];
  if (bases.every(({ spec }) => spec?.rules !== undefined)) {
    namesOfEntry.set(entry, names);
    return names;
  }
  // Rules that are not managed are taken to be those that a creation would bring.
  const created = [...(flag?.environments.values() ?? [])].flatMap(
    ({ creation }) => creation.rules,
  );
  return [...names, ...namesIn(created)];
}
