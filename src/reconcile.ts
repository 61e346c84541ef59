import { applyPlan, type ApplyProgress } from './apply/apply.js';
import { findPlace } from './api/connect.js';
import type { Time } from './api/time.js';
import type { AdminWriter } from './api/writer.js';
import { FlaghoistError, messageOf } from './errors.js';
import type { StateHome } from './git/state-home.js';
import type { StateMeta } from './git/state-ref.js';
import { EMPTY_STATE, type State } from './model/state.js';
import type { Words } from './model/run.js';
import { killOrders } from './plan/kill-orders.js';
import { stateAfterVerify, stateBeforeApply } from './plan/next-state.js';
import { planChanges } from './plan/plan.js';
import { planHash } from './plan/plan-hash.js';
import type { ReviewedPlan } from './report/reviewed-plan.js';
import { applyMessageFor } from './stages/apply-message.js';
import { readDesired } from './stages/desired.js';
import { mayPass, type GuardPass } from './stages/guarding.js';
import { refuseOlderHead } from './stages/head-order.js';
import { restorableKills } from './stages/kill-history.js';
import { beforeKills } from './stages/kill-lane.js';
import { killFirst, type Killing } from './stages/killing.js';
import { killContextOf, killedIn, killsInTheirWords } from './stages/kill-run.js';
import { look } from './stages/look.js';
import { checkNamesOnService } from './stages/policy.js';
import { policyOf, refuseUnreviewed } from './stages/reviewing.js';
import { inRounds } from './stages/rounds.js';
import { type Applied, type Planned, type RunContext } from './stages/run.js';
import { connectFor, lookedAt, reachOf, unsettledIn } from './stages/touched.js';
import { sharingSpecs } from './stages/sharing.js';
import { unknowns } from './stages/unknowns.js';
import { verify } from './stages/verifying.js';
import { weigh } from './stages/weighing.js';
import { overridden, wordsFor } from './stages/words.js';

const NOTHING_REMEMBERED = { state: EMPTY_STATE, head: null, commit: null };

/** What a run that applies needs besides. */
export interface ApplyOptions {
  readonly openWriter: () => AdminWriter;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** For the waiting until what was written can be seen. */
  readonly time?: Time;
  readonly progress: ApplyProgress;
  /** Replace what the commits say. */
  readonly words: Partial<Words>;
  /** The reviewed plan: any other is refused. */
  readonly reviewed?: ReviewedPlan | undefined;
  /** What may pass the guards. */
  readonly passing?: GuardPass;
  /** Called for each kill that goes out before the plan is made. */
  readonly onKill: Killing['onKill'];
}

/**
 * Desired against actual: what would change, and why.
 *
 * @param killing sends the kills first, whatever becomes of the rest; without it nothing at all is written.
 */
export async function plan(context: RunContext, killing: Killing | null = null): Promise<Planned> {
  const { checkout, revision } = context.source;
  const killContext = killContextOf(context);
  const { desired, held, invalid } = await readDesired(context, killContext, killing);
  context.progress?.phase('look');
  const reader = await context.openReader(desired);
  const place = await findPlace(reader, desired.config.workspace);
  const kills = await killFirst(killOrders(desired), killContext, { reader, place, killing });
  const home = await context.openState(place);
  context.memory.git.alike = sharingSpecs(desired);
  const { state, head: applied, commit: remembered } = (await home?.read()) ?? NOTHING_REMEMBERED;
  await refuseOlderHead(context, applied);
  const head = revision.commit;
  const resolved = { ...(await policyOf(context, desired, place, home === null)), held };
  const { specs } = context.memory;
  const known = { desired, state, checkout, head, applied, specs, policy: resolved };
  const widest = { ...resolved, restorable: await restorableKills(known) };
  const isDryRun = killing === null;
  const reach = reachOf(context, { ...known, policy: widest, home, kills, isDryRun });
  const { policy, observed } = reach;
  const at = await connectFor(reader, place, reach, desired);
  checkNamesOnService(lookedAt(reach, desired), at);
  const trustCounts = context.options.everyKey !== true;
  const whole = observed === 'full';
  const seen = await look(reader, at, {
    ...known,
    policy,
    trustCounts,
    whole,
    progress: context.progress,
  });
  const input = { ...seen, actual: beforeKills(seen.actual, kills) };
  const changes = planChanges(input, observed);
  context.memory.keep({ about: reach.about, desired, unsettled: unsettledIn(changes), at });
  const originName = context.originName();
  // Who has a state here was here before, wherever else.
  const elsewhere = home && remembered === null ? await context.appliedElsewhere(at) : [];
  return {
    plan: changes,
    planHash: planHash(
      changes,
      { origin: originName, workspaceId: at.workspace.id },
      policy.reviewed,
    ),
    words: killsInTheirWords(await wordsFor(changes, input, checkout, head, specs), changes, kills),
    ...(await weigh(changes, input, context, { applied, elsewhere })),
    unknowns: await unknowns(checkout, state, head, policy),
    appliedHead: applied,
    ...{ invalid, input, at, originName, reader, home, kills },
  };
}

/**
 * Plan, apply, verify; and remember what was seen to be equal. What changed meanwhile is planned again, unless the plan was
 * reviewed: nobody has seen another.
 *
 * @returns a `Planned` where a guard stands against the plan: nothing was written.
 * @throws PlanDiffersError the plan is not the reviewed one; nothing was written.
 */
export async function reconcile(
  context: RunContext,
  options: ApplyOptions,
): Promise<Planned | Applied> {
  let observedAtMs = options.now();
  const planned = await plan(context, options);
  refuseUnreviewed(planned, options.reviewed);
  if (!(await mayPass(planned, options.passing))) return planned;
  const apply = async (each: Planned): Promise<Applied> => {
    const done = await applyOnce(each, context, { ...options, observedAtMs });
    observedAtMs = options.now();
    return done;
  };
  const mayGoOn = (): boolean => options.reviewed === undefined && !options.signal.aborted;
  const done = await inRounds(planned, context, apply, mayGoOn);
  context.memory.settle(done.unsettled);
  return done;
}

async function applyOnce(
  planned: Planned,
  context: RunContext,
  options: ApplyOptions & { readonly observedAtMs: number },
): Promise<Applied> {
  const { reader, at, home, input } = planned;
  const head = context.source.revision.commit;
  const begun = stateBeforeApply(input, planned.plan.changes, head);
  // Only the second write says that this HEAD was applied.
  await home?.write(begun, {
    head: planned.appliedHead,
    message: applyMessageFor('Begin', planned, head),
  });
  const words = overridden(planned.words, options.words);
  const { now, signal, progress, observedAtMs } = options;
  const killed = killedIn(planned.kills);
  const writing = { reader, at, words, observedAtMs, now, killed, writer: options.openWriter() };
  context.progress?.phase('apply');
  const outcomes = await applyPlan(planned.plan, writing, signal, progress);
  const done = { ...planned, input: { ...input, state: begun } };
  const verified = await verify(done, outcomes, context, options).catch((error: unknown) => ({
    state: stateAfterVerify(done.input, new Set(planned.plan.unchanged), head),
    left: planned.plan.changes.map(({ id }) => id),
    unsettled: unsettledIn(planned.plan),
    unverified: messageOf(error),
  }));
  const { state, left, unsettled, unverified } = verified;
  const message = applyMessageFor('Apply', { ...planned, words }, head, outcomes);
  const converged = left.length === 0 && unverified === undefined;
  const unremembered = await remember(home, state, { head, message, last: converged });
  const verdict = {
    state,
    left,
    unsettled,
    converged,
    ...(unverified !== undefined && { unverified }),
  };
  return { ...planned, words, outcomes, ...verdict, ...unremembered };
}

/** What was done is reported also where it cannot be written down: the next run finds it equal and does so then. */
async function remember(
  home: StateHome | null,
  state: State,
  meta: StateMeta,
): Promise<{ unremembered?: string }> {
  try {
    await home?.write(state, meta);
    return {};
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return { unremembered: error.message };
  }
}
