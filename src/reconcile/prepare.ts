import { notesFor } from '../history/change-notes.js';
import { withPullRequests } from '../history/pull-requests.js';
import { unknowns } from '../history/removals.js';
import { withLostOrders } from '../kill/in-git.js';
import type { Killing } from '../kill/send.js';
import { bindEnvironments, environmentNames } from '../model/bound-desired.js';
import { isNotLookedAt } from '../model/plan.js';
import { traced } from '../platform/telemetry.js';
import { withSteps } from '../timing/standings.js';
import { withApproval, withUnusedApprovals } from './approvals.js';
import { settle, type ApplyOptions } from './apply.js';
import {
  historyOf,
  type Applied,
  type Begun,
  type Planned,
  type Remembered,
  type RunContext,
} from './context.js';
import { checkGuards } from './guards.js';
import { planWithInferredBases } from './inferred-bases.js';
import { loadSpecs, openKillLane, openService, readState } from './load.js';
import { memoryUnknowns } from './memory.js';
import { observeInScope, type Observation } from './observe.js';
import { decidePolicy } from './policy.js';
import { interruptedIn } from './record.js';
import { chooseScope, recordObservation } from './scope.js';
import { planForNow, withOverride, type HashedPlan } from './windows.js';

/**
 * Compares desired with actual values: the changes and their reasons.
 *
 * @param killing sends the kills first, even if the plan fails later. Without it, nothing is written.
 */
export async function plan(context: RunContext, killing: Killing | null = null): Promise<Planned> {
  const begun = await begin(context, killing);
  return planFrom(context, begun, await readState(context, begun.home, begun.desired));
}

async function begin(context: RunContext, killing: Killing | null): Promise<Begun> {
  // Before the kills, which an unsigned commit may not order either.
  await context.requireSigned?.();
  const kills = openKillLane(context, killing);
  const specs = await loadSpecs(context, kills);
  const service = await openService(context, specs.desired, kills);
  const desired = bindEnvironments(specs.desired, environmentNames(service.workspace.environments));
  const sent = await kills.sendFirst(desired, service);
  context.progress?.phase('read');
  const home = await context.openState(service.workspace);
  return { specs, service, desired, sent, isDryRun: kills.isDryRun, home };
}

interface LookOptions {
  /** Whether to leave unread what an interrupted run wrote. */
  readonly mayResume?: boolean;
}

async function planFrom(
  context: RunContext,
  begun: Begun,
  remembered: Remembered,
  { mayResume = true }: LookOptions = {},
): Promise<Planned> {
  context.progress?.phase('look');
  const { desired, sent, isDryRun } = begun;
  const { applied } = remembered;
  const known = { ...begun, ...(await decidePolicy(context, begun, remembered)), remembered };
  const scope = await chooseScope(context, known);
  const mayGoOn =
    mayResume && !isDryRun && scope.observed === 'full' && remembered.outOfSync?.size !== 0;
  const interrupted = await interruptedIn(mayGoOn ? remembered.home : null);
  const { input: seen, at } = await traced('read the service', async () =>
    observeInScope(context, begun, scope, interrupted),
  );
  const compared = { ...seen, actual: sent.undoneIn(seen.actual) };
  const whole = await traced('plan', async () =>
    planWithInferredBases(context, compared, scope.observed),
  );
  const approving = withUnusedApprovals(context, remembered);
  const planned = planForNow(approving, whole, at.workspace.id);
  recordObservation(context, scope, { desired, at, changes: planned.changes });
  const history = historyOf(context, desired);
  const liveKills = await withLostOrders(planned.changes.liveKills, { history, applied });
  const { checkout, revision } = context.source;
  const named = await withPullRequests(checkout, revision.commit, planned.changes);
  const changes = { ...named, liveKills };
  return assess(approving, begun, { ...planned, changes, at, remembered });
}

/** Completes a plan: notes, guards, reached users, and unknown facts. */
async function assess(
  context: RunContext,
  { specs, service, sent }: Begun,
  planned: HashedPlan & Pick<Observation, 'at'> & Pick<Planned, 'remembered'>,
): Promise<Planned> {
  const { changes, hash, heldHash, input, at, remembered } = planned;
  const { checkout, revision } = context.source;
  const { home, state, applied, isWritten } = remembered;
  // A directory with a state for this workspace is no mistake, even if it was applied to others as well.
  const elsewhere = home && !isWritten ? await context.appliedToOthers(at) : [];
  const written = { changes: sent.stillToWrite(changes.changes), withheld: changes.withheld };
  const { commit } = revision;
  const notes = await notesFor(written, input, checkout, commit, context.memory.specs);
  const guards = await checkGuards(context, { changes, input }, { applied, elsewhere });
  const said = sent.notesOver(withSteps(notes, changes, input.moment), changes);
  const approval = context.options.approvals?.find((each) => each.hash === hash);
  const approved = withApproval(said, guards.guardFindings, approval);
  return {
    plan: changes,
    planHash: hash,
    notes: withOverride(approved, changes, input),
    ...{ heldHash, approval, ...guards },
    unknowns: [
      ...memoryUnknowns(remembered, changes),
      ...(await unknowns(checkout, state, commit, input.policy)),
    ],
    reader: service.reader,
    kills: sent,
    ...{ invalid: specs.invalid, input, at, remembered },
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
  const look = async (how?: LookOptions): Promise<Omit<Prepared, 'idle'>> => {
    const remembered = await readState(context, home, desired);
    const observedAtMs = options.now();
    const planned = await planFrom(context, begun, remembered, how);
    const { steps, notCompared } = planned.plan;
    // Without a write to hurry for, nothing excuses what was not looked at.
    const isLazy = steps.length === 0 && notCompared.some(isNotLookedAt);
    return isLazy ? look({ mayResume: false }) : { planned, observedAtMs };
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
