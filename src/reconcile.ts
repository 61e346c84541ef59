import { applyPlan, type ApplyProgress } from './apply/apply.js';
import { connectIn, findPlace, type Connection, type Place } from './api/connect.js';
import type { AdminReader } from './api/reader.js';
import type { AdminWriter } from './api/writer.js';
import { FlaghoistError, messageOf } from './errors.js';
import { isAncestor } from './git/checkout.js';
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
import type { PlanInput } from './plan/plan-input.js';
import { readSpecs } from './specs/read-specs.js';
import { killOrders } from './plan/kill-orders.js';
import { guardingConfig } from './stages/guarding.js';
import { restorableKills } from './stages/kill-history.js';
import { beforeKills, type KillResults } from './stages/kill-lane.js';
import { killAmongInvalid, killFirst, type KillContext, type Killing } from './stages/killing.js';
import { look } from './stages/look.js';
import { checkNamesOnService, resolvePolicy, type RunOptions } from './stages/policy.js';
import type { Source } from './stages/source.js';
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
  /** The same to read from alone: it waits for no other run. */
  readonly peekState: (place: Place) => Promise<StateHome | null>;
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
  readonly planHash?: string | undefined;
  /** The plan that may pass the guards. */
  readonly approvedHash?: string | undefined;
  /** Called for each kill that goes out before the plan is made. */
  readonly onKill: Killing['onKill'];
}

/** A plan with everything that it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly planHash: string;
  readonly words: ReadonlyMap<ObjectId, Words>;
  readonly guardFindings: readonly GuardFinding[];
  readonly input: PlanInput;
  readonly at: Connection;
  readonly reader: AdminReader;
  readonly home: StateHome | null;
  /** HEAD of the last apply, as the state remembers it. */
  readonly appliedHead: string | null;
  /** Kills that went out before the plan was made; they are changes of it all the same. */
  readonly kills: KillResults;
}

export interface Applied extends Planned {
  readonly outcomes: Outcomes;
  /** Whether a second look found nothing left to do. */
  readonly converged: boolean;
  /** Why the second look could not be taken. */
  readonly unverified?: string;
}

/** The specs are wrong; nothing but kills was sent. */
export class InvalidSpecsError extends FlaghoistError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], kills: KillResults) {
    const isKilled = [...kills.values()].some(({ status }) => status === 'killed');
    const sent = isKilled ? 'nothing but the kills was sent' : 'nothing was sent';
    super('SPECS_INVALID', `the specs are invalid; ${sent}`);
    this.diagnostics = diagnostics;
  }
}

/**
 * Desired against actual: what would change, and why.
 *
 * @param killing sends the kills first, whatever becomes of the rest; without it nothing at all is written.
 */
export async function plan(context: RunContext, killing: Killing | null = null): Promise<Planned> {
  const { source, options } = context;
  const specs = await readSpecs(source.tree);
  const killContext = killContextOf(context);
  if (!specs.ok) {
    const kills = await killAmongInvalid(specs, killContext, killing);
    throw new InvalidSpecsError(specs.diagnostics, kills);
  }
  const { desired } = specs;
  const reader = await context.openReader(desired);
  const place = await findPlace(reader, desired.config.workspace);
  const kills = await killFirst(killOrders(desired), killContext, { reader, place, killing });
  const at = await connectIn(reader, place);
  checkNamesOnService(desired, at);
  const home = await context.openState(at);
  const { state, head: appliedHead } = (await home?.read()) ?? NOTHING_REMEMBERED;
  await refuseOlderHead(context, appliedHead);
  const head = source.revision.commit;
  const { checkout } = source;
  const known = { desired, state, checkout, head, applied: appliedHead };
  const resolved = resolvePolicy(desired.config, at, options, home === null);
  const restorable = await restorableKills({ ...known, policy: resolved });
  const seen = await look(reader, at, {
    ...known,
    policy: { ...resolved, restorable },
    trustCounts: options.everyKey !== true,
  });
  const input = { ...seen, actual: beforeKills(seen.actual, kills) };
  const changes = planChanges(input);
  const commits = { head, applied: appliedHead };
  const guarding = await guardingConfig(checkout, desired.config, commits);
  return {
    plan: changes,
    planHash: planHash(changes, {
      origin: context.originName(),
      workspaceId: at.workspace.id,
    }),
    words: killsInTheirWords(await wordsFor(changes, input, checkout, head), changes, kills),
    guardFindings: guardFindings(changes, input, guarding),
    input,
    at,
    reader,
    home,
    appliedHead,
    kills,
  };
}

function killContextOf(context: RunContext): KillContext {
  const { source, options, openReader } = context;
  return {
    source,
    options,
    openReader,
    isOutdated: async (place) => {
      const applied = async (): Promise<string | null> => {
        const home = await context.peekState(place);
        return (await home?.read())?.head ?? null;
      };
      // Kills do not wait for a state that cannot be read.
      return isOlderThan(context, await applied().catch(() => null));
    },
  };
}

/** A change that is a kill and nothing else has the words that the kill went out with. */
function killsInTheirWords(
  words: ReadonlyMap<ObjectId, Words>,
  { changes }: Plan,
  kills: KillResults,
): ReadonlyMap<ObjectId, Words> {
  const sent = changes.flatMap(({ id, fields }): [ObjectId, Words][] => {
    const result = kills.get(id);
    return result?.status === 'killed' && fields.length === 1 ? [[id, result.words]] : [];
  });
  return new Map([...words, ...sent]);
}

/** A HEAD that an earlier run has gone beyond would undo what that run applied. */
async function isOlderThan(
  { source, options }: RunContext,
  applied: string | null,
): Promise<boolean> {
  const head = source.revision.commit;
  if (options.allowOlder || head === null || applied === null || head === applied) return false;
  return (await isAncestor(source.checkout, head, applied)) === true;
}

async function refuseOlderHead(context: RunContext, applied: string | null): Promise<void> {
  const head = context.source.revision.commit;
  if (head === null || applied === null || !(await isOlderThan(context, applied))) return;
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
  const planned = await plan(context, options);
  refuseUnreviewed(planned, options.planHash);
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
    killed: killedIn(planned.kills),
  };
  const outcomes = await applyPlan(planned.plan, writing, options.signal, options.progress);
  const done = { ...planned, input: { ...planned.input, state: begun } };
  const verified = await verify(done, outcomes, context).catch((error: unknown) => ({
    state: stateAfterVerify(done.input, new Set(planned.plan.unchanged), head),
    converged: false,
    unverified: messageOf(error),
  }));
  await planned.home?.write(verified.state, { head, message: messageFor('Apply', planned, head) });
  const { state, ...verdict } = verified;
  return { ...planned, words, outcomes, ...verdict };
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
    converged: left.changes.every(({ id }) => awaitsApproval(outcomes, id)),
    state: stateAfterVerify(again, new Set(left.unchanged), head),
  };
}

/** What waits for a person on the service is left to do, and no failure of this run. */
function awaitsApproval(outcomes: Outcomes, id: ObjectId): boolean {
  const outcome = outcomes.get(id);
  return outcome?.status === 'skipped' && outcome.approvalNeeded === true;
}

function killedIn(kills: KillResults): ReadonlySet<ObjectId> {
  return new Set([...kills].flatMap(([id, { status }]) => (status === 'killed' ? [id] : [])));
}

function refuseUnreviewed(planned: Planned, reviewed: string | undefined): void {
  if (reviewed === undefined || reviewed === planned.planHash) return;
  throw new FlaghoistError(
    'PLAN_DIFFERS',
    `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed} (review the plan of now)`,
  );
}

function overridden(
  words: ReadonlyMap<ObjectId, Words>,
  given: Partial<Words>,
): ReadonlyMap<ObjectId, Words> {
  return new Map(
    [...words].map(([id, found]) => [id, fitWords({ ...found, ...given }, found.title)]),
  );
}

function messageFor(verb: string, { plan: { changes } }: Planned, head: string | null): string {
  const objects = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  return `${verb} ${head?.slice(0, 8) ?? 'a directory without commits'}: ${objects}`;
}
