import { realTime, type Time } from '../api/time.js';
import { sameJson } from '../kinds/json.js';
import type { ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Outcomes } from '../model/run.js';
import type { State } from '../model/state.js';
import { stateAfterAnswers, stateAfterVerify } from '../plan/next-state.js';
import { planChanges, touchedKeys } from '../plan/plan.js';
import { verifyingPolicy } from '../plan/policy.js';
import { look } from './look.js';
import type { Planned, RunContext } from './run.js';
import { unsettledIn } from './touched.js';

/** Between one look and the next at what was written and cannot be seen yet: about 15 s in all. */
const PAUSES_MS = [250, 750, 2_000, 4_000, 8_000];

export interface Verified {
  /** What is left to do, without what waits for a person on the service. */
  readonly left: readonly ObjectId[];
  readonly state: State;
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly unsettled: ReadonlySet<string>;
  /** Why this says less than it should. */
  readonly unverified?: string;
}

/**
 * Looks again at what was touched: nothing may be left to do.
 *
 * A service may show for a while what was there before a write. Where it does, that object is looked at again, within
 * bounds; what is neither the old nor the new is somebody else's doing, and waited for by nobody.
 *
 * @param signal ends the waiting.
 */
export async function verify(
  { plan: done, input, reader, at }: Planned,
  outcomes: Outcomes,
  { source, progress, memory }: RunContext,
  { signal, time = realTime }: { readonly signal: AbortSignal; readonly time?: Time },
): Promise<Verified> {
  const { checkout, revision } = source;
  const head = revision.commit;
  const untouched = stateAfterVerify(input, new Set(done.unchanged), head);
  const withheld = unsettledIn({ ...done, changes: [] });
  if (done.changes.length === 0) return { left: [], state: untouched, unsettled: withheld };
  const unsettled = new Set<string>();
  progress?.phase('verify');
  let state = stateAfterAnswers({ ...input, state: untouched }, done.changes, outcomes, head);
  const lookAt = async (keys: ReadonlySet<string>): Promise<readonly Change[]> => {
    const policy = verifyingPolicy(input.policy, keys);
    const known = {
      desired: input.desired,
      state,
      policy,
      checkout,
      head,
      progress,
      specs: memory.specs,
      whole: false,
    };
    const again = await look(reader, at, known);
    const left = planChanges(again, 'touched');
    state = stateAfterVerify(again, new Set(left.unchanged), head);
    for (const key of keys) unsettled.delete(key);
    for (const key of unsettledIn(left)) unsettled.add(key);
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
    const others = left.filter(({ ref }) => !unseen.has(`${ref.kind}/${ref.name}`));
    left = [...others, ...(await lookAt(unseen))];
  }
  for (const key of withheld) unsettled.add(key);
  const open = left.map(({ id }) => id).filter((id) => !awaitsApproval(outcomes, id));
  const unseen = left.filter(isUnseen).map(({ id }) => id);
  if (unseen.length === 0) return { left: open, state, unsettled };
  const unverified = `${unseen.join(', ')}: written, and the service still shows what was there before`;
  return { left: open, state, unsettled, unverified };
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
