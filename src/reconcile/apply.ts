import { applyPlan, type ApplyProgress, type ApplySettings } from '../apply/apply.js';
import { FlagkeelError, messageOf } from '../errors.js';
import { overridden, notesFor } from '../history/change-notes.js';
import type { Killing } from '../kill/send.js';
import { present } from '../model/collections.js';
import type { Outcome, Outcomes } from '../model/outcome.js';
import { isKill, type Change, type Plan } from '../model/plan.js';
import { isConverged, isDone, verdictOf, type Verdict } from '../model/verdict.js';
import { comparedWithBases } from '../plan/bases/compare.js';
import {
  stateAfterAnswers,
  stateAfterCorrections,
  stateAfterRefusals,
  stateAfterVerify,
  stateBeforeApply,
  stateOfCovered,
} from '../plan/bases/next-state.js';
import { stateWithRequests } from '../plan/bases/requests-state.js';
import { leftKilledAfter, withKillsBack } from '../plan/kills/plan.js';
import { traced } from '../platform/telemetry.js';
import type { StateMeta } from '../state/store.js';
import type { Applied, Planned, RunContext } from './context.js';
import { checkGuards, judgedAfter, withOverride, type GuardOverride } from './assess.js';
import { openObjects, outOfSyncAfter, outOfSyncIn } from './scope.js';
import { runMessage } from './record.js';
import { momentOf, planAgain, verify, type Verified, type VerifyOptions } from './verify.js';
import { recordsAfter, recordsBefore } from '../timing/records.js';
import { withSteps } from '../timing/standings.js';
import { closedAt } from '../timing/windows.js';
import { keyOfId, type ObjectId } from '../model/ref.js';
import { closedFor, isPlanned, type PlanPolicy } from '../plan/policy.js';

export interface ApplyOptions extends Killing, VerifyOptions {
  readonly progress: ApplyProgress;
  /** Hash of the reviewed plan: any other is refused. */
  readonly reviewed?: string | undefined;
  /** Plans that may pass the guards. */
  readonly override?: GuardOverride;
  /** Called once, with the plan as it is judged. */
  readonly onPlanned?: ((planned: Planned) => void) | undefined;
}

/** Sends a plan, looks again, and records the result in the state. */
export async function applyOnce(
  planned: Planned,
  context: RunContext,
  options: ApplyOptions & { readonly observedAtMs: number },
): Promise<Applied> {
  const { input } = planned;
  const { home, applied: before, timing: known } = planned.remembered;
  const head = context.source.revision.commit;
  const begun = stateBeforeApply(input, planned.plan.changes, head, momentOf(options));
  const { message: beginning } = runMessage('Begin', planned, head);
  // Only the second write records this HEAD as applied.
  const isTakingBack = input.moment.facts.setbacks.size > 0;
  const timing = isTakingBack ? recordsBefore(input.moment, known) : known;
  await home?.write(begun, { head: before, message: beginning, timing });
  const notes = overridden(planned.notes, options.note);
  const sent = await send({ ...planned, notes }, context, options);
  const made = stateAfterRefusals(begun, input, planned.plan.changes, sent);
  const done = { ...planned, notes, input: { ...input, state: made } };
  const { applied, meta } = await settle(done, sent, context, options);
  return save({ ...applied, input }, meta);
}

/** Looks again at what was sent, without a request if the plan has no changes. @returns `meta` for the state to write. */
export async function settle(
  done: Planned,
  sent: Outcomes,
  context: RunContext,
  options: VerifyOptions,
): Promise<{ readonly applied: Applied; readonly meta: StateMeta }> {
  const head = context.source.revision.commit;
  const { input, plan, remembered } = done;
  const found = stateAfterVerify(input, new Set(plan.unchanged), head, momentOf(options));
  const answered = stateAfterAnswers({ ...input, state: found }, plan.changes, sent, head);
  const looking = { ...done, answered };
  const { equal, ...verified } = await verifyOrSayWhy(looking, sent, context, options);
  const outcomes = outcomesAfterLook(sent, equal);
  // After the look, which would otherwise take a correction that is not visible yet for a forbidden one.
  const seen = { ...input, state: verified.state };
  const corrected = stateAfterCorrections(seen, plan.changes, outcomes, momentOf(options));
  const { policy } = input;
  const asked = stateWithRequests(corrected, plan, outcomes, input, head);
  const state = policy.behind ? stateOfCovered(input.state, asked, policy) : asked;
  const after = withKillsBack(plan, outcomes);
  const verdict = verdictAfter({ ...done, ...verified, plan: after, outcomes });
  const outOfSync = outOfSyncAfter(done, verified.outOfSync);
  const { timing: known, applied: before } = remembered;
  const acts = killsAndRestoresIn(plan, outcomes);
  // An older HEAD leaves these facts to the next run, because its specs lack ramps that began since; a suspended run
  // starts none, because it writes nothing.
  const timing =
    policy.behind || policy.suspended !== null
      ? known
      : recordsAfter(input.moment, { state, known, ...acts, isPlanned: plannedIn(policy) });
  const leftKilled = leftKilledAfter(remembered.leftKilled, input, state, momentOf(options));
  const open = policy.only
    ? openObjects(input, comparedWithBases({ ...input, state }, context.memory.bases))
    : [];
  const judged = judgedAfter(done, outcomes, open, head);
  const facts = { outOfSync, timing, leftKilled, judged };
  const applied = {
    ...done,
    ...verified,
    plan: after,
    outcomes,
    state,
    verdict,
    converged: isConverged(verdict),
    remembered: { ...remembered, ...facts },
  };
  const isInterrupted = options.signal.aborted;
  const record = runMessage('Apply', done, head, { outcomes, isInterrupted });
  const meta = { ...record, head: policy.behind ? before : head, last: isDone(verdict), ...facts };
  return { applied, meta };
}

/** Writes the state. If that fails, the result says why: the next run will find and record the changes. */
async function save(applied: Applied, meta: StateMeta): Promise<Applied> {
  try {
    await traced('write state', async () => applied.remembered.home?.write(applied.state, meta));
    return applied;
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    return { ...applied, unsaved: error.message };
  }
}

function plannedIn(policy: PlanPolicy): (flag: string, environmentId: string) => boolean {
  const selected = new Set(policy.environments.flatMap((each) => (each.selected ? [each.id] : [])));
  return (flag, environmentId) => selected.has(environmentId) && isPlanned(policy, 'flag', flag);
}

function killsAndRestoresIn(
  { changes }: Plan,
  outcomes: Outcomes,
): { readonly killed: ReadonlySet<ObjectId>; readonly restored: ReadonlySet<ObjectId> } {
  const applied = changes.filter(({ id }) => outcomes.get(id)?.status === 'applied');
  const idsOf = (found: readonly Change[]): ReadonlySet<ObjectId> =>
    new Set(found.map(({ id }) => id));
  return {
    killed: idsOf(applied.filter(({ fields }) => fields.some(isKill))),
    restored: idsOf(applied.filter(({ reason }) => reason === 'restore')),
  };
}

async function send(
  { plan, at, notes, kills, input }: Planned,
  context: RunContext,
  { openWriter, now, signal, progress, observedAtMs }: Parameters<typeof applyOnce>[2],
): Promise<Outcomes> {
  const { killed } = kills;
  const { desired, policy } = input;
  const writing = { at, notes, observedAtMs, now, killed, writer: openWriter() };
  context.progress?.phase('apply');
  const { concurrency } = context.options;
  const settings: ApplySettings = {
    ...progress,
    onCount: (done, total) => {
      context.progress?.count(done, total);
    },
    closedNow: (change) => closedFor({ ...policy, closed: closedAt(desired, now()) }, change),
    ...(concurrency !== undefined && { concurrency }),
  };
  return traced('apply', async () => applyPlan(plan, writing, signal, settings));
}

/** Looks again. If that fails, the result says why, because the sent changes must still be reported. */
async function verifyOrSayWhy(
  done: Parameters<typeof verify>[0],
  outcomes: Outcomes,
  context: RunContext,
  options: VerifyOptions,
): Promise<Verified> {
  try {
    return await traced('verify', async () => verify(done, outcomes, context, options));
  } catch (error) {
    return {
      state: done.answered,
      // Without the look, the remaining changes are unknown.
      left: [],
      outOfSync: outOfSyncIn(done.plan),
      equal: new Set(),
      unverified: messageOf(error),
    };
  }
}

function verdictAfter(
  done: Pick<Applied, 'plan' | 'left' | 'unverified' | 'outcomes' | 'input'>,
): Verdict {
  const { plan, left, unverified, outcomes, input } = done;
  const invalid = [...input.policy.quarantined];
  return verdictOf({ plan, outcomes, left, invalid, isUnverified: unverified !== undefined });
}

/**
 * The outcomes after a second look: a change that is found as git wants it has not failed. If its write got no answer,
 * the write was made; if it was refused, another writer made the change. The look has used what creations answered.
 */
function outcomesAfterLook(outcomes: Outcomes, equal: ReadonlySet<ObjectId>): Outcomes {
  return new Map(
    [...outcomes].map(([id, { created: _, ...each }]) => [
      id,
      equal.has(id) ? whenEqual(each) : each,
    ]),
  );
}

function whenEqual(outcome: Outcome): Outcome {
  if (outcome.status !== 'failed') return outcome;
  const { error, partly, fateUnknown, identities } = outcome;
  const answers = identities && { identities };
  if (partly || fateUnknown) return { status: 'applied', ...answers };
  const why = `it is as git wants it by now (${error.message})`;
  return { status: 'skipped', why, overtaken: true, ...answers };
}

const MORE_ROUNDS = 2;

/**
 * Applies a plan. Then plans again, at most twice, the objects that others changed during the apply, and those that had
 * to wait for them. Such a plan is judged like any other, and if a guard refuses it there is no further round.
 *
 * @param mayGoOn returns false to leave the rest to the next run.
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
    // Another plan needs a fresh reading of the state, because another run may have written it.
    const isAdrift = done.unverified !== undefined || done.unsaved !== undefined;
    if (overtaken.size === 0 || isAdrift) break;
    const again = await nextRound(done, overtaken, context);
    if (!again) break;
    done = mergeRounds(done, await apply(again), overtaken);
  }
  return done;
}

/** `KIND/NAME` of objects that changed meanwhile, or lacked an object that exists by now, and of those that waited. */
function overtakenIn(changes: readonly Change[], outcomes: Outcomes): ReadonlySet<string> {
  const isOvertaken = (change: Change): boolean => {
    const outcome = outcomes.get(change.id);
    // A change with a restore is planned again although its window has closed, because the restore must go.
    if (outcome?.status === 'skipped' && outcome.windowClosed === true)
      return change.fields.some(({ reason }) => reason === 'restore');
    if (outcome?.status === 'skipped' && outcome.overtaken === true) return true;
    return (
      outcome?.status === 'failed' &&
      (outcome.error.code === 'CHANGED_MEANWHILE' || isTooEarly(change, outcomes))
    );
  };
  if (!changes.some(isOvertaken)) return new Set();
  const isWaiting = ({ id }: Change): boolean => {
    const outcome = outcomes.get(id);
    return outcome?.status === 'skipped' && !outcome.approvalNeeded && !outcome.windowClosed;
  };
  return new Set(
    changes.filter((each) => isOvertaken(each) || isWaiting(each)).map(({ id }) => keyOfId(id)),
  );
}

const NOT_THERE: ReadonlySet<number | null> = new Set([400, 404]);

/** Whether a refusal came too early: a service may take a while to find an object that was just created. */
function isTooEarly({ id, dependsOn }: Change, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(id);
  return (
    outcome?.status === 'failed' &&
    NOT_THERE.has(outcome.error.status) &&
    dependsOn.some((each) => outcomes.get(each)?.status === 'applied')
  );
}

async function nextRound(
  done: Applied,
  only: ReadonlySet<string>,
  context: RunContext,
): Promise<Planned | null> {
  const { state, remembered } = done;
  const { checkout, revision } = context.source;
  const now = { state, nowMs: context.now() };
  const { input, plan } = await planAgain(done, only, context, now);
  if (plan.changes.length === 0 && plan.withheld.length === 0) return null;
  const guards = await checkGuards(context, { plan, input }, remembered);
  if (guards.guardFindings.length > 0) return null;
  const commits = { ...remembered, head: revision.commit };
  const found = await notesFor(plan, input, checkout, commits, context.memory.specs);
  const notes = withOverride(withSteps(found, plan, input.moment), plan, input);
  return { ...done, ...guards, plan, input, notes };
}

/** The report shows the first plan, which was reviewed, with the last outcome of each change, and what came up since. */
function mergeRounds(first: Applied, second: Applied, overtaken: ReadonlySet<string>): Applied {
  const all = new Map([...first.outcomes, ...second.outcomes]);
  const outcomes = outcomesAfterLook(all, new Set(second.plan.unchanged));
  const isAside = ({ id }: Pick<Change, 'id'>): boolean => !overtaken.has(keyOfId(id));
  const settledLeft = first.left.filter(isAside);
  // A change that failed in the first round and was held back in the second is still to do.
  const held = second.plan.withheld.filter(({ id }) => outcomes.get(id)?.status === 'failed');
  const open = [...settledLeft, ...second.left, ...held];
  const left = [...new Map(open.map((each) => [each.id, each])).values()];
  const known = [...first.outOfSync].filter((key) => !overtaken.has(key));
  const outOfSync = new Set([...known, ...second.outOfSync]);
  const { state, remembered, unverified, unsaved } = second;
  const ends = present({ unverified, unsaved });
  const done = { outcomes, state, left, outOfSync, remembered, ...ends };
  const planned = new Set(first.plan.changes.map(({ id }) => id));
  const besides = second.plan.changes.filter(({ id }) => !planned.has(id));
  const changes = [...first.plan.changes, ...besides];
  const withheld = [...first.plan.withheld.filter(isAside), ...second.plan.withheld];
  const waiting = new Set(withheld.map(({ id }) => id));
  const unchanged = first.plan.unchanged.filter((id) => !waiting.has(id));
  const plan = withKillsBack({ ...first.plan, changes, withheld, unchanged }, outcomes);
  const verdict = verdictAfter({ ...first, ...done, plan });
  const notes = new Map([...second.notes, ...first.notes]);
  return { ...first, ...done, plan, notes, verdict, converged: isConverged(verdict) };
}
