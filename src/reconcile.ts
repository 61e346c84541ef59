import { applyPlan, type ApplyProgress } from './apply/apply.js';
import { connect, type Connection } from './api/connect.js';
import type { AdminReader } from './api/reader.js';
import type { AdminWriter } from './api/writer.js';
import { FlaghoistError, messageOf } from './errors.js';
import { isAncestor } from './git/checkout.js';
import { applyMessage } from './git/state-log.js';
import type { StateHome } from './git/state-home.js';
import { fitWords } from './git/words.js';
import type { Desired } from './model/desired.js';
import type { Diagnostic } from './model/diagnostic.js';
import type { ObjectId } from './model/object-id.js';
import type { GuardFinding, Plan } from './model/plan.js';
import type { Outcomes, Words } from './model/run.js';
import { EMPTY_STATE, type State } from './model/state.js';
import { guardFindings } from './plan/guards.js';
import { stateAfterAnswers, stateAfterVerify, stateBeforeApply } from './plan/next-state.js';
import { planChanges, touchedKeys } from './plan/plan.js';
import { planHash } from './plan/plan-hash.js';
import type { PlanPolicy } from './plan/policy.js';
import type { PlanInput } from './plan/plan-input.js';
import { differencesFrom, type ReviewedPlan } from './report/reviewed-plan.js';
import { readSpecs } from './specs/read-specs.js';
import { look } from './stages/look.js';
import { checkNamesOnService, resolvePolicy, type RunOptions } from './stages/policy.js';
import { objectsChangedSince } from './stages/since.js';
import type { Source } from './stages/source.js';
import { unknowns } from './stages/unknowns.js';
import { wordsFor } from './stages/words.js';

const NOTHING_REMEMBERED = { state: EMPTY_STATE, head: null };

/** What a run works with; a plan needs nothing that can write. */
export interface RunContext {
  readonly source: Source;
  readonly options: RunOptions;
  /** Called once the specs are known to be valid: they say where the service is. */
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Null: there is no home for a state, and the run is stateless. */
  readonly openState: (at: Connection) => Promise<StateHome | null>;
  /** What plans call the service: its origin, or `embedded`. */
  readonly originName: () => string;
}

export interface ApplyOptions {
  readonly openWriter: () => AdminWriter;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly progress: ApplyProgress;
  /** Replace what the commits say. */
  readonly words: Partial<Words>;
  /** The reviewed plan: any other is refused. */
  readonly reviewed?: ReviewedPlan | undefined;
  /** The plan that may pass the guards. */
  readonly approvedHash?: string | undefined;
}

/** A plan with everything that it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly planHash: string;
  readonly words: ReadonlyMap<ObjectId, Words>;
  readonly guardFindings: readonly GuardFinding[];
  readonly input: PlanInput;
  readonly at: Connection;
  /** What plans call the service. */
  readonly originName: string;
  readonly reader: AdminReader;
  readonly home: StateHome | null;
  /** HEAD of the last apply, as the state remembers it. */
  readonly appliedHead: string | null;
  /** For people: what could not be known. */
  readonly unknowns: readonly string[];
}

export interface Applied extends Planned {
  readonly outcomes: Outcomes;
  /** Whether a second look found nothing left to do. */
  readonly converged: boolean;
  /** Why the second look could not be taken. */
  readonly unverified?: string;
  /** Why the state could not be written after the apply. */
  readonly unremembered?: string;
}

/** The specs are wrong; nothing was asked of the service. */
export class InvalidSpecsError extends FlaghoistError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super('SPECS_INVALID', 'the specs are invalid; nothing was sent');
    this.diagnostics = diagnostics;
  }
}

/** The plan is not the reviewed one; nothing was written. */
export class PlanDiffersError extends FlaghoistError {
  readonly planned: Planned;

  constructor(planned: Planned, reviewed: ReviewedPlan) {
    const place = { origin: planned.originName, workspaceId: planned.at.workspace.id };
    const how = differencesFrom(reviewed, planned.plan, place);
    super(
      'PLAN_DIFFERS',
      `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed.planHash}${how} (review the plan of now)`,
    );
    this.planned = planned;
  }
}

/** Desired against actual: what would change, and why. Writes nothing. */
export async function plan(context: RunContext): Promise<Planned> {
  const { source } = context;
  const specs = await readSpecs(source.tree);
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics);
  const { desired } = specs;
  const reader = await context.openReader(desired);
  const at = await connect(reader, desired.config.workspace);
  checkNamesOnService(desired, at);
  const home = await context.openState(at);
  const { state, head: appliedHead } = (await home?.read()) ?? NOTHING_REMEMBERED;
  await refuseOlderHead(context, appliedHead);
  const policy = await policyOf(context, desired, at, home === null);
  const head = source.revision.commit;
  const input = await look(reader, at, { desired, state, policy, checkout: source.checkout, head });
  const changes = planChanges(input);
  const { reviewed } = policy;
  const originName = context.originName();
  const hashed = reviewed ? changes.changes.filter(({ id }) => reviewed.has(id)) : changes.changes;
  return {
    plan: changes,
    planHash: planHash({ changes: hashed }, { origin: originName, workspaceId: at.workspace.id }),
    originName,
    unknowns: await unknowns(source.checkout, state, head),
    words: await wordsFor(changes, input, source.checkout, head),
    guardFindings: guardFindings(changes, { ...input, config: desired.config }),
    input,
    at,
    reader,
    home,
    appliedHead,
  };
}

async function policyOf(
  { source, options }: RunContext,
  desired: Desired,
  at: Connection,
  stateless: boolean,
): Promise<PlanPolicy> {
  const policy = resolvePolicy(desired.config, at, options, stateless);
  if (options.since === undefined) return policy;
  const known = { desired, environments: policy.environments };
  return { ...policy, reviewed: await objectsChangedSince(source.checkout, options.since, known) };
}

/** A HEAD that an earlier run has gone beyond would undo what that run applied. */
async function refuseOlderHead(
  { source, options }: RunContext,
  applied: string | null,
): Promise<void> {
  const head = source.revision.commit;
  if (options.allowOlder || head === null || applied === null || head === applied) return;
  if ((await isAncestor(source.checkout, head, applied)) !== true) return;
  throw new FlaghoistError(
    'OLDER_HEAD',
    `cannot go back to ${head.slice(0, 8)}: ${applied.slice(0, 8)}, which is newer, was applied (use --allow-older)`,
  );
}

/**
 * Plan, apply, verify; and remember what was seen to be equal.
 *
 * @returns a `Planned` where a guard stands against the plan: nothing was written.
 * @throws FlaghoistError `PLAN_DIFFERS`: the plan is not the reviewed one; nothing was written.
 */
export async function reconcile(
  context: RunContext,
  options: ApplyOptions,
): Promise<Planned | Applied> {
  const observedAtMs = options.now();
  const planned = await plan(context);
  refuseUnreviewed(planned, options.reviewed);
  if (planned.guardFindings.length > 0 && planned.planHash !== options.approvedHash) return planned;
  const head = context.source.revision.commit;
  const begun = stateBeforeApply(planned.input, planned.plan.changes, head);
  // Only the second write says that this HEAD was applied.
  await planned.home?.write(begun, {
    head: planned.appliedHead,
    message: messageFor('Begin', planned, head),
  });
  const { reader, at } = planned;
  const words = overridden(planned.words, options.words);
  const writing = {
    reader,
    at,
    words,
    observedAtMs,
    now: options.now,
    writer: options.openWriter(),
  };
  const outcomes = await applyPlan(planned.plan, writing, options.signal, options.progress);
  const done = { ...planned, input: { ...planned.input, state: begun } };
  const verified = await verify(done, outcomes, context).catch((error: unknown) => ({
    state: stateAfterVerify(done.input, new Set(planned.plan.unchanged), head),
    converged: false,
    unverified: messageOf(error),
  }));
  const message = messageFor('Apply', { ...planned, words }, head, outcomes);
  const { state, ...verdict } = verified;
  const unremembered = await remember(planned.home, state, { head, message });
  return { ...planned, words, outcomes, ...verdict, ...unremembered };
}

/** What was done is reported also where it cannot be written down: the next run finds it equal and does so then. */
async function remember(
  home: StateHome | null,
  state: State,
  meta: { head: string | null; message: string },
): Promise<{ unremembered?: string }> {
  try {
    await home?.write(state, meta);
    return {};
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return { unremembered: error.message };
  }
}

/** Looks again at what was touched: nothing may be left to do. */
async function verify(
  { plan: done, input, reader, at }: Planned,
  outcomes: Outcomes,
  { source }: RunContext,
): Promise<{ converged: boolean; state: State; unverified?: string }> {
  const head = source.revision.commit;
  const untouched = stateAfterVerify(input, new Set(done.unchanged), head);
  if (done.changes.length === 0) return { converged: true, state: untouched };
  const applied = done.changes.filter(({ id }) => outcomes.get(id)?.status === 'applied');
  const state = stateAfterAnswers({ ...input, state: untouched }, applied, head);
  const policy = { ...input.policy, only: touchedKeys(done) };
  const again = await look(reader, at, {
    desired: input.desired,
    state,
    policy,
    checkout: source.checkout,
    head,
  });
  const left = planChanges(again, 'touched');
  return {
    converged: left.changes.length === 0,
    state: stateAfterVerify(again, new Set(left.unchanged), head),
  };
}

/** @throws PlanDiffersError the plan is not the reviewed one. */
export function refuseUnreviewed(planned: Planned, reviewed: ReviewedPlan | undefined): void {
  if (reviewed === undefined || reviewed.planHash === planned.planHash) return;
  throw new PlanDiffersError(planned, reviewed);
}

function overridden(
  words: ReadonlyMap<ObjectId, Words>,
  given: Partial<Words>,
): ReadonlyMap<ObjectId, Words> {
  return new Map(
    [...words].map(([id, found]) => [id, fitWords({ ...found, ...given }, found.title)]),
  );
}

function messageFor(
  verb: string,
  { plan: { changes }, words }: Planned,
  head: string | null,
  outcomes?: Outcomes,
): string {
  const objects = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  const lines = changes.map(({ id, action }) => ({
    outcome: outcomes ? (outcomes.get(id)?.status ?? 'skipped') : 'planned',
    action,
    id,
    title: words.get(id)?.title ?? '',
  }));
  const subject = `${verb} ${head?.slice(0, 8) ?? 'a directory without commits'}: ${objects}`;
  return applyMessage(subject, head, lines);
}
