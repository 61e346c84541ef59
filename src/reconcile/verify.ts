import { paused, realTime, type Time } from '../platform/clock.js';
import type { Scope } from '../model/actual.js';
import { sameJson } from '../model/json.js';
import { keyOfId, objectId, type ObjectId } from '../model/ref.js';
import { isRemoval, type Change, type Plan } from '../model/plan.js';
import type { Outcomes } from '../model/outcome.js';
import type { State } from '../model/state.js';
import { stateAfterVerify } from '../plan/bases/next-state.js';
import { closedAt } from '../timing/windows.js';
import { planChanges, touchedKeys } from '../plan/plan.js';
import { verifyingPolicy } from '../plan/policy.js';
import { timedInput } from './policy.js';
import { observeScope } from './observe.js';
import type { Applied, Planned, RunContext } from './context.js';
import { outOfSyncIn } from './scope.js';
import type { PlanAndInput } from './assess.js';

/** Pauses between looks at writes that are not visible yet: about 15 s in all. */
const PAUSES_MS = [250, 750, 2_000, 4_000, 8_000];

export interface Verified extends Pick<Applied, 'left' | 'state' | 'outOfSync' | 'unverified'> {
  readonly equal: ReadonlySet<ObjectId>;
}

export interface VerifyOptions {
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Clock for the wait until writes can be seen. */
  readonly time?: Time;
}

export function momentOf({ now }: Pick<VerifyOptions, 'now'>): string {
  return new Date(now()).toISOString();
}

export async function planAgain(
  { plan, input: { desired, policy: before, moment }, reader, at }: Planned,
  keys: ReadonlySet<string>,
  context: RunContext,
  { state, nowMs, shown }: { state: State; nowMs: number; shown?: Scope['shown'] },
): Promise<PlanAndInput> {
  const policy = { ...verifyingPolicy(before, keys, plan), closed: closedAt(desired, nowMs) };
  const seen = await observeScope(context, { reader, at }, { desired, state, policy, shown });
  const input = timedInput(seen, moment);
  return { input, plan: planChanges(input, 'touched') };
}

/**
 * A service may show an old value for a while after a write. Such objects are read again, within bounds. A third value
 * is a foreign change, and ends the wait for its object.
 *
 * @param answered the state as far as the observation before the writes and their answers show it.
 */
export async function verify(
  planned: Planned & { readonly answered: State },
  outcomes: Outcomes,
  context: RunContext,
  options: VerifyOptions,
): Promise<Verified> {
  const { plan: done } = planned;
  const { signal, time = realTime } = options;
  const head = context.source.revision.commit;
  const startedAt = momentOf(options);
  let state = planned.answered;
  const withheld = outOfSyncIn({ ...done, changes: [] });
  const equal = new Set<ObjectId>();
  if (done.changes.length === 0) return { left: [], state, outOfSync: withheld, equal };
  const outOfSync = new Set<string>();
  context.progress?.phase('verify');
  const lookAt = async (
    keys: ReadonlySet<string>,
    shown?: Scope['shown'],
  ): Promise<readonly Change[]> => {
    const now = { state, nowMs: options.now(), shown };
    const { input: again, plan: left } = await planAgain(planned, keys, context, now);
    state = stateAfterVerify(again, new Set(left.unchanged), head, startedAt);
    for (const key of keys) outOfSync.delete(key);
    // The first plan names what is not looked at.
    for (const key of outOfSyncIn({ ...left, notCompared: [] })) outOfSync.add(key);
    for (const { id } of [...left.changes, ...left.withheld]) equal.delete(id);
    for (const id of [...left.unchanged, ...goneIn(done, left, keys)]) equal.add(id);
    // A failed change that may not be written any more is still to do as well.
    const stuck = left.withheld.filter(({ id }) => outcomes.get(id)?.status === 'failed');
    return [...left.changes, ...stuck];
  };
  const original = new Map(done.changes.map((change) => [change.id, change]));
  const isUnseen = (change: Change): boolean =>
    outcomes.get(change.id)?.status === 'applied' && isAsBefore(change, original.get(change.id));
  const lookAnew = async (keys: ReadonlySet<string>): Promise<readonly Change[]> => {
    const others = left.filter(({ id }) => !keys.has(keyOfId(id)));
    return [...others, ...(await lookAt(keys))];
  };
  const unread = new Set<string>();
  let left = await lookAt(touchedKeys(done), shownIn(planned, outcomes, unread));
  // Only a reading proves a difference, because an answer may leave something out.
  const doubtful = new Set([...outOfSync].filter((key) => unread.has(key)));
  if (doubtful.size > 0) left = await lookAnew(doubtful);
  for (const pauseMs of PAUSES_MS) {
    const unseen = touchedKeys({ ...done, changes: left.filter(isUnseen) });
    if (unseen.size === 0 || !(await paused(pauseMs, time, signal))) break;
    left = await lookAnew(unseen);
  }
  for (const key of withheld) outOfSync.add(key);
  const open = left.filter(({ id }) => !awaitsApproval(outcomes, id));
  const unseen = left.filter(isUnseen).map(({ id }) => id);
  if (unseen.length === 0) return { left: open, state, outOfSync, equal };
  const unverified = `${unseen.join(', ')}: written, and the service still shows what was there before`;
  return { left: open, state, outOfSync, equal, unverified };
}

/**
 * Definitions that need no second look: created ones, as the service answered to their creation, and those that the plan
 * found, or left unread, and leaves as they are.
 *
 * @param taken gets the `KIND/NAME` of each flag for which this serves in place of a reading.
 */
function shownIn(
  { plan: { changes }, input: { actual } }: Pick<Planned, 'plan' | 'input'>,
  outcomes: Outcomes,
  taken: Set<string>,
): Scope['shown'] {
  const changed = new Set(changes.map(({ id }) => id));
  const removed = new Set(changes.flatMap(({ id, action }) => (action === 'delete' ? id : [])));
  return (name, environment) => {
    const id = objectId({ kind: 'flag', name, environment });
    if (removed.has(keyOfId(id))) return undefined;
    const flag = actual.flags.get(name);
    if (flag?.unread?.has(environment)) return 'written';
    const live = flag?.definitions.get(environment) ?? undefined;
    const definition = changed.has(id) ? outcomes.get(id)?.created : live;
    if (definition) taken.add(keyOfId(id));
    return definition;
  };
}

/** Removals whose objects are gone, as the second plan no longer lists them. */
function goneIn(done: Plan, left: Plan, looked: ReadonlySet<string>): ObjectId[] {
  const stays = new Set([...left.changes, ...left.withheld].map(({ id }) => id));
  const gone = done.changes.filter(({ id }) => looked.has(keyOfId(id)) && !stays.has(id));
  return gone.filter(isRemoval).map(({ id }) => id);
}

/** Whether the remaining change is part of the original one, so that the write is not visible yet. */
function isAsBefore(left: Change, original: Change | undefined): boolean {
  if (left.action !== original?.action) return false;
  const before = new Map(original.fields.map((field) => [field.path, field.before]));
  return (
    left.fields.every(
      (field) => before.has(field.path) && sameJson(before.get(field.path), field.before),
    ) && sameJson(left.keys ?? null, original.keys ?? null)
  );
}

/** Whether a change waits for a person: it is still to do, but no failure of this run. */
function awaitsApproval(outcomes: Outcomes, id: ObjectId): boolean {
  const outcome = outcomes.get(id);
  return outcome?.status === 'skipped' && outcome.approvalNeeded === true;
}
