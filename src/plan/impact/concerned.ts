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
 *
 * @returns what finds them, made once for all environments.
 */
export function concernedFlags(
  changes: readonly Change[],
  input: PlanInput,
): (environment: PlannedEnvironment) => Set<string> {
  const remembered = askersByBases(input);
  return (environment) => {
    const seen = askersSeen(environment, input);
    const here = changes.filter(({ ref }) => ref.environment === environment.name);
    const concerned = new Set(here.filter(isOfFlag).map(({ ref }) => ref.name));
    const reached = new Set(here.map(({ ref }) => keyOf(ref)));
    // A set that grows while it is walked is walked to its new end.
    for (const key of reached) {
      const unseen = remembered.get(key)?.filter((flag) => !isSeen(flag, environment, input)) ?? [];
      for (const flag of [...(seen.get(key) ?? []), ...unseen]) {
        concerned.add(flag);
        reached.add(keyOf({ kind: 'flag', name: flag }));
      }
    }
    return concerned;
  };
}

function isOfFlag({ ref }: Change): boolean {
  return ref.kind === 'flag';
}

function keyOf({ kind, name }: Pick<ObjectRef, 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}

function isSeen(flag: string, { name }: PlannedEnvironment, { actual }: PlanInput): boolean {
  return actual.flags.get(flag)?.definitions.has(name) === true;
}

/** `KIND/NAME` → the flags that name it where this run looked. */
type Askers = ReadonlyMap<string, readonly string[]>;

function askersSeen(environment: PlannedEnvironment, { actual }: PlanInput): Askers {
  const askers = new Map<string, string[]>();
  for (const [flag, { definitions }] of actual.flags) {
    const live = definitions.get(environment.name);
    if (live) addAsker(askers, flag, namesInLive(live));
  }
  return askers;
}

/** The same by what is remembered, which counts where this run did not look; see `definitionBefore`. */
function askersByBases({ desired, state }: PlanInput): Askers {
  const askers = new Map<string, string[]>();
  for (const entry of state.values()) {
    if (entry.kind !== 'flag') continue;
    addAsker(askers, entry.name, namedByBases(entry, desired.flags.get(entry.name)));
  }
  return askers;
}

function addAsker(askers: Map<string, string[]>, flag: string, keys: readonly string[]): void {
  for (const key of keys) {
    const known = askers.get(key);
    if (known) known.push(flag);
    else askers.set(key, [flag]);
  }
}

const namesOfEntry = new WeakMap<FlagEntry, readonly string[]>();

/**
 * What the definitions that are remembered name in any environment: a few more than in one. An entry never changes,
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
