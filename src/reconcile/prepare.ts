import { notesFor } from '../history/change-notes.js';
import { withPullRequests } from '../history/pull-requests.js';
import { unknowns } from '../history/removals.js';
import { withLostOrders } from '../kill/in-git.js';
import type { SpecHistory } from '../history/spec-history.js';
import { isNotLookedAt, type Plan } from '../model/plan.js';
import {
  hasUnremembered,
  stateWithInferredBases,
  type EarlierSpecs,
} from '../plan/inferred-bases.js';
import { withOldKills } from '../plan/objects/definition.js';
import { planChanges } from '../plan/plan.js';
import { traced } from '../platform/telemetry.js';
import { withSteps } from '../timing/standings.js';
import {
  checkGuards,
  memoryUnknowns,
  placeUnknowns,
  planForNow,
  withApproval,
  withOverride,
  withUnusedApprovals,
  type PlanAndInput,
  type PlanHashes,
} from './assess.js';
import { settle, type ApplyOptions } from './apply.js';
import {
  historyOf,
  type Applied,
  type Begun,
  type Decided,
  type Planned,
  type Remembered,
  type RunContext,
  type TimedInput,
} from './context.js';
import { begin, readState } from './load.js';
import { observeInScope } from './observe.js';
import { decidePolicy, timedInput } from './policy.js';
import { interruptedIn } from './record.js';
import { chooseScope, recordObservation } from './scope.js';

/** Writes nothing. */
export async function plan(context: RunContext): Promise<Planned> {
  const begun = await begin(context, null);
  return planFrom(context, begun, await readState(context, begun.home, begun.desired));
}

/** @param mayResume whether to leave unread what an interrupted run wrote. */
async function planFrom(
  context: RunContext,
  begun: Begun,
  remembered: Remembered,
  mayResume = true,
): Promise<Planned> {
  const decided = { ...begun, remembered, ...(await decidePolicy(context, begun, remembered)) };
  const scoped = await chooseScope(context, decided);
  const { desired, kills, isDryRun, observed } = scoped;
  const mayGoOn = mayResume && !isDryRun && observed === 'full' && remembered.outOfSync?.size !== 0;
  const interrupted = await interruptedIn(mayGoOn ? remembered.home : null);
  context.progress?.phase('look');
  const { input: seen, at } = await traced('read the service', async () =>
    observeInScope(context, scoped, interrupted),
  );
  const compared = withOldKills(kills.undoneIn(seen));
  const whole = await traced('plan', async () =>
    planWithInferredBases(context, compared, observed),
  );
  const approving = withUnusedApprovals(context, remembered);
  const planned = planForNow(approving, whole, { workspaceId: at.workspace.id, kills });
  recordObservation(context, scoped, { at, plan: planned.plan });
  const history = historyOf(context, desired);
  const { applied } = remembered;
  const liveKills = await withLostOrders(planned.plan.liveKills, { history, applied });
  const { checkout, revision } = context.source;
  const named = await withPullRequests(checkout, revision.commit, planned.plan);
  const hashed = { ...planned, plan: { ...named, liveKills }, at };
  const assessed = await assess(approving, scoped, hashed);
  return { ...assessed, plan: kills.withoutUnseen(assessed.plan) };
}

/**
 * If a differing object has no base in the state, it is inferred from the specs before the push at hand, which are read
 * only then.
 */
async function planWithInferredBases(
  context: RunContext,
  input: TimedInput,
  observed: Plan['observed'],
): Promise<PlanAndInput> {
  const plan = planChanges(input, observed);
  if (!hasUnremembered(plan)) return { input, plan };
  const before = await specsBeforePush(historyOf(context, input.desired), context.options.since);
  const state = before ? stateWithInferredBases(input, before) : input.state;
  if (state === input.state) return { input, plan };
  const completed = timedInput({ ...input, state }, input.moment);
  return { input: completed, plan: planChanges(completed, observed) };
}

/**
 * At the merge base of HEAD and `since`, or without that at the first parent of HEAD. No older commit can serve, because
 * between it and the push the service may have been reverted by hand. undefined if they are unknown, or there were none.
 */
async function specsBeforePush(
  history: SpecHistory,
  since: string | undefined,
): Promise<EarlierSpecs | undefined> {
  if (!history.isKnown) return undefined;
  const commit =
    since === undefined ? await history.firstParent() : await history.mergeBaseWith(since);
  const desired = commit === null ? undefined : await history.atAncestor(commit);
  return desired && commit !== null ? { desired, commit } : undefined;
}

async function assess(
  context: RunContext,
  { reader, invalid, kills, remembered }: Decided,
  hashed: PlanAndInput & PlanHashes & Pick<Planned, 'at'>,
): Promise<Planned> {
  const { plan: made, input, at, approval } = hashed;
  const { checkout, revision } = context.source;
  const { home, state, isWritten } = remembered;
  // A directory with a state for this workspace is no mistake, even if it was applied to others as well.
  if (!isWritten) context.progress?.phase('read');
  const elsewhere = home && !isWritten ? await context.appliedToOthers(at) : [];
  const written = { changes: kills.stillToWrite(made.changes), withheld: made.withheld };
  const { commit } = revision;
  const commits = { ...remembered, head: commit };
  const notes = await notesFor(written, input, checkout, commits, context.memory.specs);
  const guards = await checkGuards(context, hashed, remembered, elsewhere);
  const allNotes = kills.notesOver(withSteps(notes, made, input.moment), made);
  const approved = withApproval(allNotes, guards.guardFindings, approval);
  return {
    ...hashed,
    notes: withOverride(approved, made, input),
    unknowns: [
      ...memoryUnknowns(remembered, made),
      ...placeUnknowns(input.policy, made),
      ...(await unknowns(checkout, state, commit, input.policy)),
    ],
    ...guards,
    reader,
    kills,
    invalid,
    remembered,
  };
}

/** A plan to apply, and when its run began to look at the service. */
export interface Prepared {
  readonly planned: Planned;
  readonly observedAtMs: number;
  /** What there is to report if the run writes nothing, neither to the service nor to the state. */
  readonly idle: Applied | null;
}

/**
 * Makes a plan that may be applied. A run that is to write locks the state, and plans anew if the state moved between
 * the plan and the lock. A run that writes nothing takes no lock.
 *
 * A commit that this machine has not applied yet will probably be written, so that the state is locked first: the lock
 * shows whether the state is still the known one, which saves a look at origin.
 */
export async function prepare(context: RunContext, options: ApplyOptions): Promise<Prepared> {
  const begun = await begin(context, options);
  const { home, desired } = begun;
  const look = async (mayResume = true): Promise<Omit<Prepared, 'idle'>> => {
    const remembered = await readState(context, home, desired);
    const observedAtMs = options.now();
    const planned = await planFrom(context, begun, remembered, mayResume);
    const { steps, notCompared } = planned.plan;
    // Without a write to hurry for, nothing excuses what was not looked at.
    const isLazy = steps.length === 0 && notCompared.some(isNotLookedAt);
    return isLazy ? look(false) : { planned, observedAtMs };
  };
  const applied = (await home?.appliedHere()) ?? null;
  const isNew = applied !== null && applied !== context.source.revision.commit;
  if (home && isNew) await context.lockState(home);
  const first = await look();
  const idle = await idleResult(first.planned, context, options);
  if (idle !== null || !home || isNew) return { ...first, idle };
  await context.lockState(home);
  const { commit } = await home.read();
  if (commit === first.planned.remembered.commit) return { ...first, idle };
  return { ...(await look()), idle };
}

/** The result of a run with nothing to write; null if there is something. */
async function idleResult(
  planned: Planned,
  context: RunContext,
  options: ApplyOptions,
): Promise<Applied | null> {
  if (planned.plan.steps.length > 0) return null;
  const { applied, meta } = await settle(planned, new Map(), context, options);
  return planned.remembered.home?.wouldChange(applied.state, meta) === true ? null : applied;
}
