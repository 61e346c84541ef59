import { realTime, type Time } from '../platform/clock.js';
import { sameJson } from '../model/json.js';
import { keyOf, keyOfId, type ObjectId } from '../model/ref.js';
import type { Change, Plan } from '../model/plan.js';
import type { Outcomes } from '../model/outcome.js';
import type { State } from '../model/state.js';
import { stateAfterAnswers, stateAfterVerify } from '../plan/bases/next-state.js';
import { planChanges, touchedKeys } from '../plan/plan.js';
import { verifyingPolicy } from '../plan/policy.js';
import { observeScope } from './observe.js';
import type { Planned, RunContext } from './context.js';
import { outOfSyncIn } from './out-of-sync.js';
import { policyAt } from './windows.js';

/** Between one look and the next at what was written and cannot be seen yet: about 15 s in all. */
const PAUSES_MS = [250, 750, 2_000, 4_000, 8_000];

export interface Verified {
  /** What is left to do, by what was wanted and found then, without what waits for a person on the service. */
  readonly left: readonly Change[];
  readonly state: State;
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly outOfSync: ReadonlySet<string>;
  /** Of the changes those that were found to be as git wants them. */
  readonly equal: ReadonlySet<ObjectId>;
  /** Why this says less than it should. */
  readonly unverified?: string;
}

interface VerifyOptions {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly time?: Time;
}

/** The time as the state remembers it. */
export function momentOf({ now }: Pick<VerifyOptions, 'now'>): string {
  return new Date(now()).toISOString();
}

/**
 * Looks again at what was touched: nothing may be left to do.
 *
 * A service may show for a while what was there before a write. Where it does, that object is looked at again, within
 * bounds; what is neither the old nor the new is somebody else's doing, and waited for by nobody.
 *
 * @param options `signal` ends the waiting.
 */
export async function verify(
  { plan: done, input, reader, at }: Planned,
  outcomes: Outcomes,
  context: RunContext,
  options: VerifyOptions,
): Promise<Verified> {
  const { signal, time = realTime } = options;
  const head = context.source.revision.commit;
  const now = momentOf(options);
  const untouched = stateAfterVerify(input, new Set(done.unchanged), head, now);
  const withheld = outOfSyncIn({ ...done, changes: [] });
  const equal = new Set<ObjectId>();
  if (done.changes.length === 0) return { left: [], state: untouched, outOfSync: withheld, equal };
  const outOfSync = new Set<string>();
  context.progress?.phase('verify');
  let state = stateAfterAnswers({ ...input, state: untouched }, done.changes, outcomes, head);
  const lookAt = async (keys: ReadonlySet<string>): Promise<readonly Change[]> => {
    const policy = policyAt(
      verifyingPolicy(input.policy, keys, done),
      input.desired,
      options.now(),
    );
    const about = { desired: input.desired, state, policy };
    const again = await observeScope(context, { reader, at }, about);
    const left = planChanges(again, 'touched');
    state = stateAfterVerify(again, new Set(left.unchanged), head, now);
    for (const key of keys) outOfSync.delete(key);
    for (const key of outOfSyncIn(left)) outOfSync.add(key);
    for (const { id } of [...left.changes, ...left.withheld]) equal.delete(id);
    for (const id of [...left.unchanged, ...goneIn(done, left, keys)]) equal.add(id);
    // What failed and may not be written any more is left to do as well.
    const stuck = left.withheld.filter(({ id }) => outcomes.get(id)?.status === 'failed');
    return [...left.changes, ...stuck];
  };
  const original = new Map(done.changes.map((change) => [change.id, change]));
  const isUnseen = (change: Change): boolean =>
    outcomes.get(change.id)?.status === 'applied' && isAsBefore(change, original.get(change.id));
  let left = await lookAt(touchedKeys(done));
  for (const pauseMs of PAUSES_MS) {
    const unseen = touchedKeys({ ...done, changes: left.filter(isUnseen) });
    if (unseen.size === 0 || !(await paused(pauseMs, time, signal))) break;
    const others = left.filter(({ ref }) => !unseen.has(keyOf(ref.kind, ref.name)));
    left = [...others, ...(await lookAt(unseen))];
  }
  for (const key of withheld) outOfSync.add(key);
  const open = left.filter(({ id }) => !awaitsApproval(outcomes, id));
  const unseen = left.filter(isUnseen).map(({ id }) => id);
  if (unseen.length === 0) return { left: open, state, outOfSync, equal };
  const unverified = `${unseen.join(', ')}: written, and the service still shows what was there before`;
  return { left: open, state, outOfSync, equal, unverified };
}

/** What was to be taken away, and is seen to be gone: nothing of it is planned any more. */
function goneIn(done: Plan, left: Plan, looked: ReadonlySet<string>): ObjectId[] {
  const stays = new Set([...left.changes, ...left.withheld].map(({ id }) => id));
  return done.changes.flatMap(({ id, action }) => {
    const isRemoval = action === 'delete' || action === 'deactivate';
    return isRemoval && looked.has(keyOfId(id)) && !stays.has(id) ? [id] : [];
  });
}

/** @returns false: the run was interrupted. */
async function paused(ms: number, time: Time, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  await time.sleep(ms, signal).catch(() => undefined);
  return !signal.aborted;
}

/** Whether what is left to do is part of what there was to do: the write cannot be seen. */
function isAsBefore(left: Change, original: Change | undefined): boolean {
  if (left.action !== original?.action) return false;
  const before = new Map(original.fields.map((field) => [field.path, field.before]));
  return (
    left.fields.every(
      (field) => before.has(field.path) && sameJson(before.get(field.path), field.before),
    ) && sameJson(left.keys ?? null, original.keys ?? null)
  );
}

/** What waits for a person on the service is left to do, and no failure of this run. */
function awaitsApproval(outcomes: Outcomes, id: ObjectId): boolean {
  const outcome = outcomes.get(id);
  return outcome?.status === 'skipped' && outcome.approvalNeeded === true;
}
