import { grouped, present } from '../../model/collections.js';
import { NO_KEYS, sameKeys } from '../../model/segment-keys.js';
import type { WireDefinition } from '../../admin-api/wire.js';
import type { ActualActivation } from '../../model/actual.js';
import type { DesiredActivation, DesiredDefinition } from '../../model/desired.js';
import type { Definition, Rule } from '../../model/flag/flag.js';
import { definitionId, keyOf, keyOfId, objectId } from '../../model/ref.js';
import type { Change, Plan } from '../../model/plan.js';
import { flagEntry, entryOf, entriesOf, type ActivationBase } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import type { PlannedEnvironment } from '../policy.js';
import { seedsOf, type Seeds } from './serving.js';
import {
  questionsOf,
  segmentList,
  servedDefinition,
  wholeFromWire,
  withChanges,
  type ListId,
  type ServedDefinition,
  type WholeDefinition,
} from './served-definition.js';
import { plannedKind } from '../objects/kinds.js';
import { liveUsesOf, usesOf, type Use } from '../planned-change.js';

/** One environment before and after the plan, as far as it decides which key gets which treatment. */
export interface EnvironmentSides {
  readonly environment: PlannedEnvironment;
  /** Every flag that changes or depends on a change, and all flags that these ask about. */
  readonly flags: ReadonlyMap<string, FlagSides>;
  /** Lists whose keys are known; the members of any other list are unknown. */
  readonly lists: ReadonlyMap<ListId, ListSides>;
}

export interface FlagSides {
  /** Null without a definition, as in `after`. */
  readonly before: ServedDefinition | null;
  readonly after: ServedDefinition | null;
  readonly change?: Change;
  /** Of the definition before and after, if this run read it from a service that shows them. */
  readonly seeds?: Seeds;
}

/** All sorted. */
export interface ListSides {
  readonly before: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly change?: Change;
}

/** The sides of each environment in which the plan changes something. */
export function environmentSides(plan: Plan, input: PlanInput): EnvironmentSides[] {
  const byId = new Map(plan.changes.map((change) => [change.id, change]));
  const changed = new Set(plan.changes.map(({ ref }) => ref.environment));
  const concernedIn = affectedFlags(plan.changes, input);
  return input.policy.environments
    .filter(({ name }) => changed.has(name))
    .map((environment) => {
      const flags = flagsIn(environment, concernedIn(environment), byId, input);
      const lists = new Map([...writtenLists(flags), ...segmentsIn(environment, byId, input)]);
      return { environment, flags, lists };
    });
}

type ChangesById = ReadonlyMap<string, Change>;

function flagsIn(
  environment: PlannedEnvironment,
  affected: Iterable<string>,
  byId: ChangesById,
  input: PlanInput,
): Map<string, FlagSides> {
  const sides = new Map<string, FlagSides>();
  const names = new Set(affected);
  // The loop also visits names that are added while it runs.
  for (const name of names) {
    const found = sidesOf(name, environment, byId, input);
    if (!found) continue;
    sides.set(name, found);
    // Only a changed flag that is killed needs what a restore would serve.
    const restored = found.change && found.after?.restored;
    for (const question of [found.before, found.after, restored].flatMap(questionsOf)) {
      if (question.about === 'flag') names.add(question.flag);
    }
  }
  return sides;
}

function sidesOf(
  name: string,
  environment: PlannedEnvironment,
  byId: ChangesById,
  { actual, desired, state }: PlanInput,
): FlagSides | undefined {
  const live = actual.flags.get(name)?.definitions.get(environment.name);
  const spec = desired.flags.get(name)?.environments.get(environment.name);
  const base = flagEntry(state, name)?.environments[environment.id]?.spec;
  const before = definitionBefore(live, spec, base);
  const change = byId.get(definitionId({ flag: name, environment: environment.name }));
  if (before === undefined && !change) return undefined;
  const after = definitionAfter(before ?? null, change, spec);
  // Computed once for equal sides, so that comparing by identity finds them equal.
  const served = before ? servedDefinition(before) : null;
  const servedAfter = after === before ? served : after && servedDefinition(after);
  const seeds = live ? seedsOf(live) : undefined;
  return {
    before: served,
    after: servedAfter,
    ...present({ change, seeds }),
  };
}

/** The live definition, or that of base or spec where this run read none. Null: there is none; undefined: unknown. */
function definitionBefore(
  live: WireDefinition | null | undefined,
  spec: DesiredDefinition | undefined,
  base: Definition | undefined,
): WholeDefinition | null | undefined {
  if (live !== undefined) return live && wholeFromWire(live);
  return spec && base && { fields: { ...spec.creation, ...base }, segments: {} };
}

function definitionAfter(
  before: WholeDefinition | null,
  change: Change | undefined,
  spec: DesiredDefinition | undefined,
): WholeDefinition | null {
  if (!change) return before;
  if (change.action === 'delete') return null;
  if (change.action !== 'create') return before && withChanges(before, change.fields);
  if (!spec) throw new Error(`bug: ${change.id} is created without a spec`);
  // The spec already contains the targets.
  const values = change.fields.filter(({ keys }) => !keys);
  return withChanges({ fields: spec.creation, segments: {} }, values);
}

/** Keys listed in matchers are equal on both sides: another list is another matcher. */
function writtenLists(flags: ReadonlyMap<string, FlagSides>): Map<ListId, ListSides> {
  const lists = new Map<ListId, ListSides>();
  for (const { before, after } of flags.values()) {
    for (const served of [before, after]) {
      for (const [list, keys] of served?.listedKeys ?? [])
        lists.set(list, { before: keys, added: [], removed: [] });
    }
  }
  return lists;
}

function segmentsIn(
  environment: PlannedEnvironment,
  byId: ChangesById,
  { actual, desired, state }: PlanInput,
): Map<ListId, ListSides> {
  const names = new Set([...desired.segments.keys(), ...actual.segments.keys()]);
  const sides = [...names].flatMap((name) => {
    const live = actual.segments.get(name)?.environments.get(environment.name);
    const spec = desired.segments.get(name)?.environments.get(environment.name);
    const base = entryOf(state, 'segment', name)?.environments[environment.id]?.spec;
    const before = keysBefore(live, spec, base);
    const change = byId.get(objectId({ kind: 'segment', name, environment: environment.name }));
    if (!before) return [];
    const { added = [], removed = [] } = change?.keys ?? {};
    const gone = change?.action === 'deactivate' ? before : removed;
    const list = { before, added, removed: gone, ...(change && { change }) };
    return [[segmentList(name), list] as const];
  });
  return new Map(sides);
}

function keysBefore(
  live: ActualActivation | undefined,
  spec: DesiredActivation | undefined,
  base: ActivationBase | undefined,
): readonly string[] | undefined {
  // Others fill the segment, so once activated it may soon hold any key.
  if (live?.active === false) return spec && !spec.keys ? undefined : NO_KEYS.keys;
  if (live?.keys) return live.keys.keys;
  // If the run read only the activation, or nothing, the base gives the keys.
  const remembered = live?.assumedKeys ?? base?.keys;
  if (!spec?.keys || !remembered) return undefined;
  return sameKeys(spec.keys.digest, remembered) ? spec.keys.keys : undefined;
}

/** Changed flags, and those that ask about one of these or about a changed segment, directly or through other flags. */
function affectedFlags(
  changes: readonly Change[],
  input: PlanInput,
): (environment: PlannedEnvironment) => Set<string> {
  const remembered = usersInBases(input);
  return (environment) => {
    const seen = usersSeen(environment, input);
    const here = changes.filter(({ ref }) => ref.environment === environment.name);
    const isOfDefinition = ({ ref }: Change): boolean =>
      plannedKind(ref.kind).reaches === 'by-definition';
    const concerned = new Set(here.filter(isOfDefinition).map(({ ref }) => ref.name));
    const reached = new Set(here.map(({ ref }) => keyOf(ref.kind, ref.name)));
    // The loop also visits keys that are added while it runs.
    for (const key of reached) {
      const others = remembered.get(key) ?? [];
      const unseen = others.filter(
        ({ flag }) => !input.actual.flags.get(flag)?.definitions.has(environment.name),
      );
      for (const { flag } of [...(seen.get(key) ?? []), ...unseen]) {
        concerned.add(flag);
        reached.add(keyOf('flag', flag));
      }
    }
    return concerned;
  };
}

/** `KIND/NAME` → the flags whose rules name it. */
type Users = ReadonlyMap<string, readonly { readonly flag: string }[]>;

function usersOf(flags: readonly (readonly [flag: string, uses: readonly Use[]])[]): Users {
  const namings = flags.flatMap(([flag, uses]) =>
    uses.map(({ id }) => ({ flag, key: keyOfId(id) })),
  );
  return grouped(namings, ({ key }) => key);
}

/** Users of each object, as far as this run read the flags. */
function usersSeen({ name }: PlannedEnvironment, { actual }: PlanInput): Users {
  return usersOf(
    [...actual.flags].map(([flag, { definitions }]) => {
      const live = definitions.get(name);
      return [flag, live ? liveUsesOf(live, name) : []];
    }),
  );
}

/** Users of each object by the state, in any environment: a few more than in a single one. */
function usersInBases({ desired, state }: PlanInput): Users {
  return usersOf(
    entriesOf(state.values(), 'flag').map(({ name, environments }) => {
      const definitions = [...(desired.flags.get(name)?.environments.values() ?? [])];
      const rules = Object.values(environments).flatMap(({ spec }) => {
        // Assumes for unmanaged rules those of the creation.
        return spec?.rules ? [spec.rules] : definitions.map(({ creation }) => creation.rules);
      });
      return [name, rules.flatMap(usesAnywhere)];
    }),
  );
}

const usesOfRules = new WeakMap<readonly Rule[], readonly Use[]>();

/** Cached, because bases mostly stay from run to run. */
function usesAnywhere(rules: readonly Rule[]): readonly Use[] {
  const uses = usesOfRules.get(rules) ?? usesOf(rules, '');
  usesOfRules.set(rules, uses);
  return uses;
}
