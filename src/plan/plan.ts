import { grouped } from '../model/collections.js';
import { byCodeUnits, canonicalJson } from '../model/json.js';
import { objectsOf, type DesiredFlag } from '../model/desired.js';
import {
  isNotLookedAt,
  withdrawStepId,
  type Change,
  type NotCompared,
  type Plan,
  type Rename,
  type Step,
  type Withdrawal,
  type Withheld,
  type WithheldWhy,
} from '../model/plan.js';
import { keyOf, objectId, type Kind, type ObjectId, type ObjectRef } from '../model/ref.js';
import { flagEntry, type Base, type StateEntry } from '../model/state.js';
import type { PlannedChange, ObjectPlan } from './planned-change.js';
import { KINDS_BY_RANK, namesInBase, observedKind, plannedKind } from './objects/kinds.js';
import { planRemoval } from './objects/placed-object.js';
import { withDrafts, withdrawalsIn, withRequests } from './requests.js';
import { withoutHarm } from './order/in-use.js';
import { liveKillsIn, planKills, planUnmanagedRestores } from './kills/plan.js';
import { orderChanges } from './order/order.js';
import {
  isCovered,
  plannedObjects,
  wantedEntries,
  type PlanPolicy,
  type WithheldReason,
} from './policy.js';
import type { PlanInput } from './input.js';

/**
 * The writes that turn `actual` into `desired`. Pure: equal input gives an equal plan, whatever the insertion order of
 * its maps. It never fails on user input; changes that the policy forbids come back as `withheld`.
 */
export function planChanges(input: PlanInput, observed: Plan['observed'] = 'full'): Plan {
  const { held } = input.policy;
  // An earlier observation may have held changes back.
  const left = withoutHeld(onlyReviewed(planObjects(input), input.policy), ({ change }) =>
    held?.get(change.id),
  );
  const objects = withRequests(left, input);
  const { planned, withheld } = withoutHarm(objects, input);
  const environments = input.policy.environments.map((each) => each.name);
  const kills = planKills(input)
    .filter(({ change }) => isCovered(input.policy, change.id))
    .map((each) => withDrafts(each, input));
  const { changes, steps } = orderChanges(planned, kills, input.actual, environments);
  const withdrawals = withdrawalsIn([...planned, ...kills], withheld, input);
  const renames = renamesAmong([...changes, ...withheld], input);
  const notCompared = notComparedIn(input);
  const strangers = unmanagedNames(input);
  const touched = new Set([...changes, ...withheld.filter(isDifference)].map(({ id }) => id));
  const suspended = input.policy.suspended !== null && { suspended: true as const };
  return {
    changes: changes.map((change) => withRename(change, renames)),
    steps: [...withdrawals.map(withdrawStep), ...steps],
    withheld: withheld
      .map((each) => ({ ...withRename(each, renames), ...suspended }))
      .sort((a, b) => byCodeUnits(a.id, b.id) || byCodeUnits(a.why, b.why)),
    unchanged: objects
      .map(({ id }) => id)
      .filter((id) => !touched.has(id))
      .sort(byCodeUnits),
    observed: notCompared.some(isNotLookedAt) ? 'touched' : observed,
    unmanaged: strangers && {
      flags: strangers.flags.length,
      segments: strangers.segments.length,
    },
    liveKills: liveKillsIn(input, { changes, withheld }),
    notCompared,
    ...(withdrawals.length > 0 && { withdrawals }),
  };
}

/** Comes before the other steps of its object, which the service refuses while the request is open. */
function withdrawStep(withdrawal: Withdrawal): Step {
  const { id: change, request } = withdrawal;
  const id = withdrawStepId(withdrawal);
  return { id, change, needs: [], action: 'withdraw-request', request: request.id };
}

function withRename<T extends Change>(change: T, renames: ReadonlyMap<ObjectId, Rename>): T {
  const rename = renames.get(change.id);
  return rename ? { ...change, rename } : change;
}

/**
 * Pairs of a created and a removed object that look like a rename: of the same kind and traffic type, and equal in
 * every environment, by the present specs of one and the base of the other. Ambiguous matches are left out. The service
 * knows no rename, so this only informs people.
 *
 * @param changes planned and withheld ones.
 * @returns workspace-level changes by id.
 */
function renamesAmong(changes: readonly Change[], input: PlanInput): ReadonlyMap<ObjectId, Rename> {
  const whole = changes.filter(({ ref }) => ref.environment === null);
  const removed = whole.filter(({ action }) => action === 'delete');
  // Without removals there are no renames.
  if (removed.length === 0) return new Map();
  const created = whole.filter(({ action }) => action === 'create');
  const going = grouped(removed, ({ id }) => rememberedForm(input.state.get(id)));
  const coming = grouped(created, ({ ref }) => declaredForm(ref, input));
  return new Map(
    [...coming].flatMap(([form, changes]): [ObjectId, Rename][] => {
      if (form === undefined) return [];
      const [to, ...others] = changes.map(({ id }) => id);
      const [from, ...more] = (going.get(form) ?? []).map(({ id }) => id);
      if (to === undefined || from === undefined || others.length + more.length > 0) return [];
      return [
        [to, { from }],
        [from, { to }],
      ];
    }),
  );
}

/** Undefined if it is in no environment: it would match any other such object. */
function declaredForm(
  { kind, name }: ObjectRef,
  { desired, policy }: PlanInput,
): string | undefined {
  const rules = observedKind(kind);
  const declared = objectsOf(desired, kind).get(name);
  if (!rules || !declared) return undefined;
  const places = policy.environments.flatMap((environment): [string, unknown][] => {
    const spec = rules.spec(desired, { kind, name, environment: environment.name });
    return spec === undefined ? [] : [[environment.id, spec]];
  });
  return formOf(kind, declared.trafficType, places);
}

function rememberedForm(entry: StateEntry | undefined): string | undefined {
  if (!entry) return undefined;
  const { kind, environments } = entry;
  const bases = Object.entries<Base<unknown>>(environments);
  const places = bases.map(([id, { spec }]): [string, unknown] => [id, spec ?? null]);
  return formOf(kind, namesInBase(entry)?.trafficType, places);
}

function formOf(
  kind: Kind,
  trafficType: string | undefined,
  places: readonly [string, unknown][],
): string | undefined {
  if (places.length === 0) return undefined;
  return canonicalJson({ kind, trafficType, environments: Object.fromEntries(places) });
}

function planObjects(input: PlanInput): ObjectPlan[] {
  const { state, policy } = input;
  return [
    ...KINDS_BY_RANK.flatMap((kind) => plannedKind(kind).plan(input)),
    ...wantedEntries(policy, state).flatMap((entry) => {
      const rules = observedKind(entry.kind);
      return rules ? planRemoval(entry, rules, input) : [];
    }),
    ...planUnmanagedRestores(input),
  ];
}

/** Not for what will never be more equal: a description that the service cannot change, and identities that left git. */
function isDifference({ why, fields }: Withheld): boolean {
  if (why === 'stays-on-service') return false;
  return why !== 'immutable' || fields.some(({ path }) => path !== '/description');
}

/** Objects of the workspace that neither the specs nor the state name, in the service's order; null without a list. */
export function unmanagedNames({
  desired,
  actual,
  state,
}: PlanInput): { readonly flags: readonly string[]; readonly segments: readonly string[] } | null {
  if (!actual.allFlags || !actual.allSegments) return null;
  const isOurs = (kind: Kind, name: string): boolean =>
    objectsOf(desired, kind).has(name) || state.has(keyOf(kind, name));
  return {
    flags: actual.allFlags.filter((name) => !isOurs('flag', name)),
    segments: actual.allSegments.filter((name) => !isOurs('segment', name)),
  };
}

/** No later run writes these, or they may not be necessary. */
const NEVER_PENDING: ReadonlySet<WithheldWhy> = new Set([
  'immutable',
  'stays-on-service',
  'not-remembered',
]);

export function pendingWithheld(plan: Pick<Plan, 'withheld'>): readonly Withheld[] {
  return plan.withheld.filter(({ why }) => !NEVER_PENDING.has(why));
}

/** `KIND/NAME` of every object that a plan writes to. */
export function touchedKeys(plan: Plan): ReadonlySet<string> {
  return new Set(plan.changes.map(({ ref }) => keyOf(ref.kind, ref.name)));
}

/** Holds back changes outside the reviewed plan, and leaves out objects that the specs of an older HEAD do not cover. */
export function onlyReviewed(
  planned: readonly ObjectPlan[],
  policy: Pick<PlanPolicy, 'reviewed' | 'shows' | 'behind'>,
): readonly ObjectPlan[] {
  const { reviewed = null, shows = () => true } = policy;
  const covered = planned.filter(({ id }) => isCovered(policy, id));
  return withoutHeld(covered, ({ change }) =>
    (reviewed?.has(change.id) ?? true) && shows(change) ? undefined : { why: 'not-reviewed' },
  );
}

function withoutHeld(
  planned: readonly ObjectPlan[],
  reasonOf: (change: PlannedChange) => WithheldReason | undefined,
): readonly ObjectPlan[] {
  return planned.map((each) => {
    const { change, id, withheld } = each;
    const reason = change && reasonOf(change);
    if (!reason) return each;
    return { id, withheld: [...withheld, { ...change.change, dependsOn: [], ...reason }] };
  });
}

/** Objects compared by their number of keys, or by their base alone, and those not looked at; sorted by id. */
function notComparedIn(input: PlanInput): NotCompared[] {
  const { actual, desired, policy } = input;
  const counted = [...actual.segments].flatMap(([name, { environments }]) =>
    [...environments].flatMap(([environment, { assumedKeys }]): NotCompared[] => {
      const id = objectId({ kind: 'segment', name, environment });
      return assumedKeys ? [{ id, what: 'keys', why: 'counted' }] : [];
    }),
  );
  const unseen = plannedObjects(policy, 'flag', desired.flags)
    .filter((flag) => isUnseen(flag, input))
    .map(({ name }): NotCompared => {
      const id = objectId({ kind: 'flag', name, environment: null });
      return { id, what: 'fields', why: 'not-shown' };
    });
  const unread = [...actual.flags].flatMap(([name, flag]) =>
    [...(flag.unread ?? [])].map((environment): NotCompared => {
      const id = objectId({ kind: 'flag', name, environment });
      return { id, what: 'definition', why: 'written-before' };
    }),
  );
  return [...counted, ...unseen, ...unread].sort((a, b) => byCodeUnits(a.id, b.id));
}

/** Whether the specs manage a field that no answer of the service shows. A flag that is new in git has no such field. */
function isUnseen({ name, fields }: DesiredFlag, { actual, state }: PlanInput): boolean {
  const live = actual.flags.get(name);
  if (!live || live.flag || live.existence === 'absent' || actual.showsFlags) return false;
  if (live.existence === 'unknown') return flagEntry(state, name) !== undefined;
  return Object.keys(fields).length > 0;
}
