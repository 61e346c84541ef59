import { applyPlan, type ApplyProgress } from '../apply/apply.js';
import type { AdminWriter } from '../admin-api/writer.js';
import { FlagkeelError, messageOf } from '../errors.js';
import { overridden, notesFor } from '../history/change-notes.js';
import type { Killing } from '../kill/first.js';
import type { ChangeNote, Outcome, Outcomes } from '../model/outcome.js';
import type { State } from '../model/state.js';
import { unfinishedIn, type Standing } from '../model/unfinished.js';
import { stateAfterCorrections } from '../plan/bases/corrections.js';
import {
  stateAfterRefusals,
  stateAfterVerify,
  stateBeforeApply,
  stateOfCovered,
} from '../plan/bases/next-state.js';
import type { Time } from '../platform/clock.js';
import { traced } from '../platform/telemetry.js';
import type { ReviewedPlan } from '../report/json/reviewed-plan.js';
import type { StateMeta } from '../state/ref-store.js';
import type { StateHome } from '../state/store.js';
import type { Applied, Planned, RunContext } from './context.js';
import { type GuardOverride, checkGuards } from './guards.js';
import { outOfSyncAfter, outOfSyncIn } from './out-of-sync.js';
import { runMessage } from './record.js';
import { momentOf, verify, type Verified } from './verify.js';
import { withSteps } from './ramps/ladders.js';
import { closedByNow, policyAt, withOverride } from './windows.js';
import { keyOfId, type ObjectId } from '../model/ref.js';
import type { Change, Plan } from '../model/plan.js';
import { planChanges } from '../plan/plan.js';
import { rampsAfter } from '../plan/ramps.js';
import { verifyingPolicy } from '../plan/policy.js';
import { observeScope } from './observe.js';

/** What a run that applies needs besides. */
export interface ApplyOptions {
  readonly openWriter: () => AdminWriter;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** For the waiting until what was written can be seen. */
  readonly time?: Time;
  readonly progress: ApplyProgress;
  /** Replace what the commits say. */
  readonly note: Partial<ChangeNote>;
  /** The reviewed plan: any other is refused. */
  readonly reviewed?: ReviewedPlan | undefined;
  /** What may pass the guards. */
  readonly override?: GuardOverride;
  /** Called once, with the plan as it is judged. */
  readonly onPlanned?: ((planned: Planned) => void) | undefined;
  /** Called for each kill that goes out before the plan is made. */
  readonly onKill: Killing['onKill'];
}

/** Sends a plan, looks again, and remembers what was seen to be equal. */
export async function applyOnce(
  planned: Planned,
  context: RunContext,
  options: ApplyOptions & { readonly observedAtMs: number },
): Promise<Applied> {
  const { home, input } = planned;
  const head = context.source.revision.commit;
  const begun = stateBeforeApply(input, planned.plan.changes, head);
  const { message: beginning } = runMessage('Begin', planned, head);
  // Only the second write says that this HEAD was applied.
  await home?.write(begun, { head: planned.appliedHead, message: beginning });
  const notes = overridden(planned.notes, options.note);
  const sent = await send({ ...planned, notes }, context, options);
  const { changes } = planned.plan;
  const made = stateAfterRefusals(begun, input, changes, sent);
  const done = { ...planned, notes, input: { ...input, state: made } };
  const { equal, ...verified } = await verifyOrSayWhy(done, sent, context, options);
  const outcomes = settled(sent, equal);
  // After the look: it would take a correction that cannot be seen yet for one that may not be made.
  const known = { ...input, state: verified.state };
  const corrected = stateAfterCorrections(known, changes, outcomes, momentOf(options));
  const { policy } = input;
  const state = policy.behind ? stateOfCovered(made, corrected, policy) : corrected;
  const standing = standingAfter({ ...verified, plan: planned.plan, outcomes });
  const said = runMessage('Apply', done, head, outcomes);
  const knownOutOfSync = outOfSyncAfter(done, verified.outOfSync);
  const newest = policy.behind ? planned.appliedHead : head;
  // Ramps of an older HEAD are left to the next run: its specs do not have those that began since.
  const { ramps: before } = planned.remembered;
  const restored = restoredIn(planned.plan, outcomes);
  const ramps = policy.behind ? before : rampsAfter(input, state, { known: before, restored });
  const meta = {
    head: newest,
    ...said,
    last: standing !== 'open',
    outOfSync: knownOutOfSync,
    ramps,
  };
  const unsaved = await saveState(home, state, meta);
  return {
    ...{ ...planned, notes, outcomes, ...verified },
    ...{ state, standing, converged: standing === 'in-sync', knownOutOfSync, ...unsaved },
    remembered: { ...planned.remembered, ramps },
  };
}

/** Definitions whose kill the apply took back. */
function restoredIn({ changes }: Plan, outcomes: Outcomes): ReadonlySet<ObjectId> {
  const restores = changes.filter(({ reason }) => reason === 'restore');
  return new Set(
    restores.map(({ id }) => id).filter((id) => outcomes.get(id)?.status === 'applied'),
  );
}

async function send(
  { plan, reader, at, notes, kills, input }: Planned,
  context: RunContext,
  { openWriter, now, signal, progress, observedAtMs }: Parameters<typeof applyOnce>[2],
): Promise<Outcomes> {
  const { killed } = kills;
  const writing = { reader, at, notes, observedAtMs, now, killed, writer: openWriter() };
  context.progress?.phase('apply');
  const { concurrency } = context.options;
  const settings = {
    ...progress,
    closedNow: closedByNow(input, now),
    ...(concurrency !== undefined && { concurrency }),
  };
  return traced('apply', async () => applyPlan(plan, writing, signal, settings));
}

/** What was sent is reported also where nobody can look at it again. */
async function verifyOrSayWhy(
  done: Planned,
  outcomes: Outcomes,
  context: RunContext,
  options: ApplyOptions,
): Promise<Verified> {
  try {
    return await traced('verify', async () => verify(done, outcomes, context, options));
  } catch (error) {
    const head = context.source.revision.commit;
    return {
      state: stateAfterVerify(done.input, new Set(done.plan.unchanged), head, momentOf(options)),
      // Nobody looked, so that nobody can say what is there.
      left: [],
      outOfSync: outOfSyncIn(done.plan),
      equal: new Set(),
      unverified: messageOf(error),
    };
  }
}

function standingAfter({
  plan,
  left,
  unverified,
  outcomes,
}: Pick<Applied, 'plan' | 'left' | 'unverified' | 'outcomes'>): Standing {
  const hasFailed = [...outcomes.values()].some(({ status }) => status === 'failed');
  if (left.length > 0 || unverified !== undefined || hasFailed) return 'open';
  const { held, waits } = unfinishedIn(plan, outcomes);
  if (held.length > 0) return 'held';
  return waits.length > 0 ? 'waits' : 'in-sync';
}

/**
 * The outcomes after a second look: what is as git wants it has not failed. A write without an answer was made, and what
 * was refused was made by somebody else.
 */
function settled(outcomes: Outcomes, equal: ReadonlySet<ObjectId>): Outcomes {
  return new Map([...outcomes].map(([id, each]) => [id, equal.has(id) ? found(each) : each]));
}

function found(outcome: Outcome): Outcome {
  if (outcome.status !== 'failed') return outcome;
  const { error, partly, fateUnknown, identities } = outcome;
  const answers = identities && { identities };
  if (partly || fateUnknown) return { status: 'applied', ...answers };
  const why = `it is as git wants it by now (${error.message})`;
  return { status: 'skipped', why, overtaken: true, ...answers };
}

/** What was done is reported also where it cannot be written down: the next run finds it equal and does so then. */
async function saveState(
  home: StateHome | null,
  state: State,
  meta: StateMeta,
): Promise<{ unsaved?: string }> {
  try {
    await traced('write state', async () => home?.write(state, meta));
    return {};
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    return { unsaved: error.message };
  }
}

/** Rounds after the first. */
const MORE_ROUNDS = 2;

/**
 * Applies a plan; and plans again, at most twice, what somebody else changed while it was applied, with all that had to
 * wait for it. What is planned again is judged like any plan: what the policy withholds by now stays as it is, and where a
 * guard stands against it there is no further round.
 *
 * @param mayGoOn false: what is left is left to the next run.
 */
export async function applyWithReplan(
  planned: Planned,
  context: RunContext,
  apply: (planned: Planned) => Promise<Applied>,
  mayGoOn: () => boolean,
): Promise<Applied> {
  let done = await apply(planned);
  for (let round = 1; round <= MORE_ROUNDS && mayGoOn(); round += 1) {
    const overtaken = overtakenIn(done.plan.changes, done.outcomes);
    // What another run wrote down meanwhile has to be read before anything is planned on it.
    const isAdrift = done.unverified !== undefined || done.unsaved !== undefined;
    if (overtaken.size === 0 || isAdrift) break;
    // One round after the other: each plans from what the one before has left.
    const again = await planAgain(done, overtaken, context);
    if (!again) break;
    done = joined(done, await apply(again), overtaken);
  }
  return done;
}

/** `KIND/NAME` of what changed meanwhile or was refused for lack of what is there by now, and of what had to wait for it. */
function overtakenIn(changes: readonly Change[], outcomes: Outcomes): ReadonlySet<string> {
  const isOvertaken = (change: Change): boolean => {
    const outcome = outcomes.get(change.id);
    // Of what the window does not let pass any more the restore has to go all the same.
    if (outcome?.status === 'skipped' && outcome.windowClosed === true) return isRestore(change);
    if (outcome?.status === 'skipped' && outcome.overtaken === true) return true;
    return (
      outcome?.status === 'failed' &&
      (outcome.error.code === 'CHANGED_MEANWHILE' || isTooEarly(change, outcomes))
    );
  };
  if (!changes.some(isOvertaken)) return new Set();
  const isWaiting = ({ id }: Change): boolean => {
    const outcome = outcomes.get(id);
    if (outcome?.status !== 'skipped') return false;
    return outcome.approvalNeeded !== true && outcome.windowClosed !== true;
  };
  return new Set(
    changes.filter((each) => isOvertaken(each) || isWaiting(each)).map(({ id }) => keyOfId(id)),
  );
}

function isRestore({ fields }: Change): boolean {
  return fields.some(({ reason }) => reason === 'restore');
}

const NOT_THERE: ReadonlySet<number | null> = new Set([400, 404]);

/** A service may take a while to see what it has just been given. */
function isTooEarly({ id, dependsOn }: Change, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(id);
  return (
    outcome?.status === 'failed' &&
    NOT_THERE.has(outcome.error.status) &&
    dependsOn.some((each) => outcomes.get(each)?.status === 'applied')
  );
}

async function planAgain(
  done: Applied,
  only: ReadonlySet<string>,
  context: RunContext,
): Promise<Planned | null> {
  const { reader, at, input: before, state, appliedHead: applied } = done;
  const { checkout, revision } = context.source;
  const { desired } = before;
  const policy = policyAt(verifyingPolicy(before.policy, only, done.plan), desired, context.now());
  const input = await observeScope(context, { reader, at }, { desired, state, policy });
  const changes = planChanges(input, 'touched');
  if (changes.changes.length === 0) return null;
  const guards = await checkGuards(context, { changes, input }, { applied });
  if (guards.guardFindings.length > 0) return null;
  const found = await notesFor(changes, input, checkout, revision.commit, context.memory.specs);
  const notes = withOverride(withSteps(found, changes, input), changes, input);
  return { ...done, ...guards, plan: changes, input, notes };
}

/**
 * The first plan is what was reviewed by eye, and what is reported; its changes ended as they did last. What was written
 * besides, because it turned out to be needed, is told after them.
 */
function joined(first: Applied, second: Applied, overtaken: ReadonlySet<string>): Applied {
  const outcomes = settled(
    new Map([...first.outcomes, ...second.outcomes]),
    new Set(second.plan.unchanged),
  );
  const settledLeft = first.left.filter(({ id }) => !overtaken.has(keyOfId(id)));
  // What failed in the first round and was held back in the second is left to do, whatever else was written by then.
  const held = second.plan.withheld.filter(({ id }) => outcomes.get(id)?.status === 'failed');
  const all = [...settledLeft, ...second.left, ...held];
  const left = [...new Map(all.map((each) => [each.id, each])).values()];
  const known = [...first.outOfSync].filter((key) => !overtaken.has(key));
  const outOfSync = new Set([...known, ...second.outOfSync]);
  const { state, unverified, unsaved, knownOutOfSync } = second;
  const done = {
    outcomes,
    state,
    left,
    outOfSync,
    knownOutOfSync,
    ...(unverified !== undefined && { unverified }),
  };
  const planned = new Set(first.plan.changes.map(({ id }) => id));
  const besides = second.plan.changes.filter(({ id }) => !planned.has(id));
  const plan = { ...first.plan, changes: [...first.plan.changes, ...besides] };
  const standing = standingAfter({ ...done, plan });
  return {
    ...first,
    ...done,
    plan,
    notes: new Map([...second.notes, ...first.notes]),
    standing,
    converged: standing === 'in-sync',
    ...(unsaved !== undefined && { unsaved }),
  };
}
