import { KILL, type WireDefinition } from '../../admin-api/wire.js';
import { present } from '../../model/collections.js';
import type { Definition } from '../../model/flag/flag.js';
import type { DesiredDefinition, DesiredFlag } from '../../model/desired.js';
import { definitionId, keyOf, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import { byCodeUnits } from '../../model/json.js';
import {
  isCreation,
  isKill,
  takesKillBack,
  type FieldChange,
  type LiveKill,
  type Plan,
} from '../../model/plan.js';
import type { Outcomes } from '../../model/outcome.js';
import { entriesOf, flagEntry, type Base, type LeftKilled, type State } from '../../model/state.js';
import type { PlacedObject } from '../objects/placed-object.js';
import type { Sighting } from '../objects/planned-kind.js';
import {
  plannedChange,
  plannedUpdate,
  splitFields,
  type PlannedChange,
  type ObjectPlan,
  type ChangeSubject,
} from '../planned-change.js';
import { isKillListed, isKillOrdered, killOrders, type KillOrder } from './orders.js';
import type { PlanInput } from '../input.js';
import {
  environmentNamed,
  rulesIn,
  isPlanned,
  isSelectedHere,
  plannedObjects,
  type PlannedEnvironment,
  type WithheldReason,
} from '../policy.js';

/**
 * The kills that git orders and the service lacks: of any flag, declared here or not, even if its specs have errors.
 * Each is a change of its own, so that nothing that holds back other fields holds back a kill.
 */
export function planKills(input: PlanInput): PlannedChange[] {
  const { desired, policy } = input;
  const byChecks = policy.suspended === null ? killsByChecks(input) : [];
  const orders = killOrders(desired).filter(
    (order) => policy.takenBack?.get(definitionId(order)) !== order.reason,
  );
  return [
    ...orders.flatMap((order) => planKill(order, 'kill', input)),
    ...byChecks.flatMap((order) => planKill(order, 'ramp', input)),
  ];
}

type KillSubjectOf = Pick<KillOrder, 'flag' | 'environment' | 'location'>;

function planKill(kill: KillSubjectOf, reason: 'kill' | 'ramp', input: PlanInput): PlannedChange[] {
  const { flag, environment, location } = kill;
  const { actual, policy } = input;
  const ref: ObjectRef = { kind: 'flag', name: flag, environment };
  const live = actual.flags.get(flag)?.definitions.get(environment);
  if (!live || live.killed || !isSelectedHere(policy, objectId(ref))) return [];
  const fields = [killedChange(true, reason)];
  const request = { action: 'kill-flag' as const, flag, environment };
  return [plannedChange({ ref, location }, { action: 'update', fields }, [request])];
}

function killsByChecks({ desired, policy }: PlanInput): KillSubjectOf[] {
  return plannedObjects(policy, 'flag', desired.flags).flatMap(({ name: flag, environments }) =>
    [...environments].flatMap(([environment, { timed, location }]) =>
      timed?.get('/killed')?.reason === 'ramp' ? [{ flag, environment, location }] : [],
    ),
  );
}

/** Restores of definitions that are not declared here; they write only `/killed`. */
export function planUnmanagedRestores(input: PlanInput): ObjectPlan[] {
  const { actual, policy, desired } = input;
  return [...policy.restorable.values()].flatMap((ref): ObjectPlan[] => {
    const environment = environmentNamed(policy, ref.environment);
    if (!environment?.selected || !isPlanned(policy, 'flag', ref.name)) return [];
    const { name } = environment;
    if (desired.flags.get(ref.name)?.environments.has(name)) return [];
    const live = actual.flags.get(ref.name)?.definitions.get(name);
    if (!live?.killed || isKillOrdered(desired, ref.name, name)) return [];
    const subject: ChangeSubject = { ref, location: null };
    const rules = rulesIn(policy, environment);
    const split = splitFields(subject, [killedChange(false, 'restore')], rules, undefined);
    const operations = KILL.map((operation) => ({ ...operation, value: false }));
    const place = { flag: ref.name, environment: name };
    return [
      plannedUpdate(subject, split, () => [
        { action: 'patch-definition', ...place, operations, expected: live },
      ]),
    ];
  });
}

export interface PlacedDefinition extends PlacedObject {
  readonly flag: DesiredFlag;
  readonly definition: DesiredDefinition;
  readonly environment: PlannedEnvironment;
}

/**
 * The restore of a live kill that git does not order. Git's silence alone never restores: the base must have the kill
 * and the specs take it back, or `killed: false` was committed after the kill was seen. Any other live kill is drift.
 */
export function plannedRestore(
  of: PlacedDefinition,
  killed: boolean,
  input: PlanInput,
): FieldChange | undefined {
  const { flag, definition, environment } = of;
  if (!killed || isKillOrdered(input.desired, flag.name, environment.name)) return undefined;
  if (isTakenBack(of, input)) return killedChange(false, 'restore');
  // A kill by a failed check stays until a commit answers it.
  const isDrift = definition.fields.killed === false && !definition.timed?.has('/killed');
  return isDrift ? killedChange(false, 'drift') : undefined;
}

/**
 * Whether a definition that the service lacks went killed, by a run or by hand, and nobody took that back. It is created
 * killed then: git's silence restores nothing.
 */
export function wentKilled(of: PlacedDefinition, input: PlanInput): boolean {
  const { base, environment, flag } = of;
  const left = input.policy.leftKilled?.[stateId(flag.name, environment)];
  if (left === undefined && !isKilledIn(base)) return false;
  const restore = plannedRestore(of, true, input);
  return restore === undefined || liveKillHold(restore, environment) !== undefined;
}

function isKilledIn(base: Base<unknown> | undefined): boolean {
  const spec = base?.spec as Definition | undefined;
  return base?.liveKillSeenAt !== undefined || spec?.killed === true;
}

function stateId(flag: string, { id: environment }: Pick<PlannedEnvironment, 'id'>): ObjectId {
  return definitionId({ flag, environment });
}

/** Every read of the state parses them. Most are never asked for, since few names come back. */
const MOST_LEFT_KILLED = 1_000;

/**
 * What a run leaves to remember of definitions that leave the inventory killed; of very many, those of the newest kills.
 *
 * @param now the time of the run, ISO 8601 in UTC.
 */
export function leftKilledAfter(
  known: LeftKilled,
  { actual, policy, state: before }: PlanInput,
  after: State,
  now: string,
): LeftKilled {
  const left = new Map(Object.entries(known));
  const entries = new Map([...before, ...after]).values();
  for (const { name: flag } of entriesOf(entries, 'flag')) {
    const [was, is] = [before, after].map((state) => flagEntry(state, flag)?.environments);
    for (const place of policy.environments) {
      const base = was?.[place.id];
      const live = actual.flags.get(flag)?.definitions.get(place.name);
      const id = stateId(flag, place);
      const isMoved = policy.held?.get(definitionId({ flag, environment: place.name }))?.moved;
      const isGone = base !== undefined && is?.[place.id] === undefined && !isMoved;
      if (is?.[place.id]?.spec) left.delete(id);
      if (isGone && (live?.killed ?? isKilledIn(base))) left.set(id, base.liveKillSeen ?? now);
    }
  }
  const newest = [...left].sort(([, a], [, b]) => byCodeUnits(a, b)).slice(-MOST_LEFT_KILLED);
  return Object.fromEntries(newest);
}

/** Why a live kill stays. @param isOld whether `restore` may take back another kill than git does. */
export function liveKillHold(
  { reason }: FieldChange,
  { onLiveKill, place }: PlannedEnvironment,
  isOld = false,
): WithheldReason | undefined {
  if (!isOld && (reason !== 'drift' || onLiveKill === 'revert')) return undefined;
  return { why: 'live-kill', ...present({ place, because: isOld ? OLD_KILL : undefined }) };
}

const OLD_KILL =
  'git takes back the kill that a run saw; it was changed on the service since, and may be killed anew';

/**
 * Whether git takes back a kill that it ordered, or that was made by hand. A break-glass list that vanished takes nothing
 * back, even if the flag says `killed: false`.
 */
export function isTakenBack(
  of: Pick<PlacedDefinition, 'ref' | 'base' | 'definition' | 'environment'>,
  { desired, policy }: PlanInput,
): boolean {
  if (policy.restorable.has(objectId(of.ref))) return true;
  const base = of.base as Base<Definition> | undefined;
  if (base?.spec?.killed !== true) return false;
  if (base.killListed === true) return desired.killLists.has(of.environment.name);
  return of.definition.fields.killed === false;
}

function killedChange(killed: boolean, reason: 'kill' | 'ramp' | 'restore' | 'drift'): FieldChange {
  return { path: '/killed', reason, before: !killed, after: killed };
}

/**
 * Definitions that are killed on the service without an order of git: orphaned ones, and declared ones whatever their
 * specs say of `killed`; sorted by id. Leaves out those that git takes back, even if that is withheld, and those that the
 * run did not read.
 */
export function liveKillsIn(
  input: PlanInput,
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
): LiveKill[] {
  const { desired, actual, policy, state } = input;
  const later = withheld.filter(({ reason }) => reason === 'restore');
  const restored = new Set([...changes.filter(takesKillBack), ...later].map(({ id }) => id));
  const creations = changes.filter((each) => isCreation(each) && each.fields.some(isKill));
  const created = new Set(creations.map(({ id }) => id));
  const declared = plannedObjects(policy, 'flag', desired.flags).flatMap(({ name, environments }) =>
    [...environments].map(([environment, { location }]) => {
      return { ref: { kind: 'flag' as const, name, environment }, location };
    }),
  );
  const orphaned = (policy.orphaned ?? []).map((ref) => ({ ref, location: null }));
  return [...declared, ...orphaned]
    .flatMap(({ ref, location }): LiveKill[] => {
      const id = objectId(ref);
      const { name } = ref;
      const live = actual.flags.get(name)?.definitions.get(ref.environment ?? '');
      // Asked first, because hardly any definition is killed.
      const isKilled = live?.killed ?? created.has(id);
      const environment = isKilled && environmentNamed(policy, ref.environment);
      if (!environment || !isSelectedHere(policy, id) || restored.has(id)) return [];
      if (isKillOrdered(desired, name, environment.name)) return [];
      const base = flagEntry(state, name)?.environments[environment.id];
      const left = policy.leftKilled?.[stateId(name, environment)];
      const seen = base?.liveKillSeen ?? left ?? null;
      const commit = base?.liveKillSeenAt ?? null;
      const found = { id, ref, location, seen, commit, ...present({ place: environment.place }) };
      if (!live) return [{ ...found, comesBack: true }];
      const wasOrdered = location === null || base?.spec?.killed === true;
      return [wasOrdered ? { ...found, wasOrdered } : found];
    })
    .sort((a, b) => byCodeUnits(a.id, b.id));
}

/** The plan after an apply: what came back killed is on the service by now, like any other live kill. */
export function withKillsBack(plan: Plan, outcomes: Outcomes): Plan {
  const liveKills = plan.liveKills.map(({ comesBack, ...kill }) => {
    const isBack = outcomes.get(kill.id)?.status === 'applied';
    return comesBack && !isBack ? { ...kill, comesBack } : kill;
  });
  return { ...plan, liveKills };
}

/** The observed objects, with these definitions killed or restored. */
export function withKilled<T extends Pick<PlanInput, 'actual'>>(
  acts: ReadonlyMap<ObjectId, boolean>,
  input: T,
): T {
  const flags = [...input.actual.flags].map(([name, flag]) => {
    const definitions = [...flag.definitions].map(([environment, live]) => {
      const killed = acts.get(definitionId({ flag: name, environment }));
      return [environment, live && killed !== undefined ? { ...live, killed } : live] as const;
    });
    return [name, { ...flag, definitions: new Map(definitions) }] as const;
  });
  return { ...input, actual: { ...input.actual, flags: new Map(flags) } };
}

/**
 * The base with the facts about kills that later runs need: whether the break-glass list ordered its kill, and at which
 * commit a kill without an order was first seen. A change in git alone may later take back either.
 *
 * @param base the new one; if it is `before` itself, only the sighting is updated.
 */
export function rememberingKills(
  base: Base<unknown>,
  { ref: { name: flag, environment }, before, head, now }: Sighting,
  { desired, actual, policy }: PlanInput,
): Base<unknown> {
  if (environment === null) return base;
  const { killListed: held, liveKillSeenAt: _, liveKillSeen: __, killedAsOf: ___, ...rest } = base;
  const isKill = (base.spec as Definition | undefined)?.killed === true;
  const isListed = base !== before && isKill && isKillListed(desired, flag, environment);
  const live = actual.flags.get(flag)?.definitions.get(environment);
  const isOrdered = isKillOrdered(desired, flag, environment) || isKill;
  const seenAt = before?.liveKillSeenAt;
  const isLiveKill = live?.killed === true && !isOrdered;
  const seenNow = isLiveKill ? (seenAt ?? head) : null;
  const seen = live ? seenNow : seenAt;
  // Without its commit, the time would belong to another sighting.
  const place = environmentNamed(policy, environment);
  const first = place && policy.leftKilled?.[stateId(flag, place)];
  const moment = seenAt === undefined ? (first ?? now) : before?.liveKillSeen;
  const isOld = policy.oldKills?.has(definitionId({ flag, environment }));
  const known = !live || (live.killed && isOld) ? before?.killedAsOf : undefined;
  return {
    ...rest,
    ...present({ killedAsOf: known ?? (live?.killed ? markOf(live) : undefined) }),
    ...((held ?? isListed) && { killListed: true }),
    ...(seen && { liveKillSeenAt: seen, ...present({ liveKillSeen: moment }) }),
  };
}

/** Differs after each change of a definition; only equality has a meaning, because clocks differ. */
export function markOf({ lastUpdateTime }: WireDefinition): string {
  return String(lastUpdateTime);
}

/** After a restore outside all runs: a later kill must not be taken for the one that git ordered. */
export function afterRestore(state: State, flag: string, environmentId: string): State {
  const entry = flagEntry(state, flag);
  const base = entry?.environments[environmentId];
  if (!entry || !base) return state;
  const { killListed, liveKillSeenAt, liveKillSeen, killedAsOf, ...rest } = base;
  const spec = rest.spec?.killed === true ? { ...rest.spec, killed: false } : rest.spec;
  const restored = { ...rest, ...(spec && { spec }) };
  const environments = { ...entry.environments, [environmentId]: restored };
  return new Map(state).set(keyOf('flag', flag), { ...entry, environments });
}

/**
 * Definitions with a live kill that git had not ordered, and that the specs now want without one; with the HEAD of the
 * run that first saw it.
 */
export function seenLiveKills({
  desired,
  state,
  policy,
}: Omit<PlanInput, 'actual'>): { ref: ObjectRef; seenAt: string }[] {
  return entriesOf(state.values(), 'flag').flatMap(({ name, environments }) =>
    policy.environments.flatMap(({ id, name: environment }) => {
      const seenAt = environments[id]?.liveKillSeenAt;
      const definition = desired.flags.get(name)?.environments.get(environment);
      if (seenAt === undefined || definition?.fields.killed !== false) return [];
      return [{ ref: { kind: 'flag', name, environment }, seenAt }];
    }),
  );
}
