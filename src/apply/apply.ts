import { FlagkeelError, isRefusedWith, messageOf, RejectedError } from '../errors.js';
import { wantsRequest } from '../admin-api/http/request.js';
import { grouped } from '../model/collections.js';
import { keyOfId, refOfId, type ObjectId } from '../model/ref.js';
import { DEFAULT_CONCURRENCY, type Closed } from '../model/run.js';
import { withdrawStepId, type Change, type Plan, type Step, type StepId } from '../model/plan.js';
import type {
  ChangeNote,
  IdentitiesAnswer,
  Outcome,
  OutcomeCode,
  OutcomeError,
  Outcomes,
  StepEnd,
} from '../model/outcome.js';
import { traced } from '../platform/telemetry.js';
import { requestText, REQUEST_WANTED } from '../model/change-request.js';
import { NameArchivedError } from '../admin-api/flag-writes.js';
import type { LiveWorkspace } from '../admin-api/workspace.js';
import { StepError, type StepPlace, type WriteAnswer } from '../admin-api/write-call.js';
import type { AdminWriter } from '../admin-api/writer.js';
import { takeSideBySide } from './schedule.js';

const INTERRUPTED = 'the run was interrupted';
const OTHERS_REQUEST = ' (have it rejected, or withdraw it with the key that submitted it)';
const WAITS = { status: 'skipped', approvalNeeded: true } as const;

/** Age up to which a reading of a definition is trusted for a write that was computed from it. */
const FRESH_MS = 3_000;

export interface ApplyContext {
  readonly writer: AdminWriter;
  readonly at: LiveWorkspace;
  readonly notes: ReadonlyMap<ObjectId, ChangeNote>;
  readonly now: () => number;
  /** Start of the observation behind the plan, by the clock `now`. */
  readonly observedAtMs: number;
  /** Changes that were sent before the plan was made. */
  readonly killed: ReadonlySet<ObjectId>;
}

export interface ApplyProgress {
  onStep?(step: Step, note: ChangeNote | undefined): void;
  /** Called when a step has ended, or was skipped; once for each, also where it was sent twice. */
  onEnd?(step: Step, end: StepEnd): void;
  /** Called when the last step of a change has ended, or was skipped. */
  onOutcome?(change: Change, outcome: Outcome): void;
}

type Skipped = Extract<Outcome, { status: 'skipped' }>;

type StepResult =
  | ({
      readonly status: 'succeeded';
      /** A withdrawn change request, which changed no object. */
      readonly isAside?: boolean;
    } & WriteAnswer)
  | { readonly status: 'failed'; readonly error: OutcomeError; readonly fateUnknown?: true }
  | Skipped;

export interface ApplySettings extends ApplyProgress {
  /** Most steps under way at once; with 1 the steps go in the order of the plan. */
  readonly concurrency?: number;
  readonly onCount?: (done: number, total: number) => void;
  /** Called before each step: the reason why its change may not be written now. Default: none. */
  readonly closedNow?: (change: Change) => Closed | undefined;
}

/**
 * A failed step stops only the steps that need it. Once `signal` is aborted, steps under way are finished and all
 * others are skipped. Never throws on failures of the service. Every change of the plan has an outcome, in the order of
 * the plan, and then every withdrawal, by the id of its step.
 */
export async function applyPlan(
  plan: Plan,
  context: ApplyContext,
  signal: AbortSignal,
  settings: ApplySettings = {},
): Promise<Outcomes> {
  const { concurrency = DEFAULT_CONCURRENCY } = settings;
  const results = new Map<StepId, StepResult>();
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  const changeOf = new Map(plan.steps.map((step) => [step.id, step.change]));
  const stepsOf = grouped(plan.steps, ({ change }) => change);
  const resultsOf: ResultsOf = (id) =>
    (stepsOf.get(id) ?? []).flatMap((step) => results.get(step.id) ?? []);
  const closed = (step: Step): Skipped | undefined => {
    const change = isUrgent(step) ? undefined : changes.get(step.change);
    return change && closedResult(settings.closedNow?.(change));
  };
  const attempts = new Map<StepId, number>();
  await takeSideBySide<Step, StepResult>(plan.steps, {
    concurrency,
    skip: (step) => reasonToSkip(step, results, changeOf, signal) ?? closed(step),
    send: async (step) => {
      settings.onStep?.(step, context.notes.get(step.change));
      return tracedResult(step, context, attempts);
    },
    isRefusedBeside: (result) =>
      result.status === 'failed' && CONFLICTS.includes(result.error.status ?? 0),
    end: (step, result) => {
      results.set(step.id, result);
      settings.onCount?.(results.size, plan.steps.length);
      settings.onEnd?.(step, result);
      const change = changes.get(step.change);
      if (change && resultsOf(change.id).length === stepsOf.get(change.id)?.length)
        settings.onOutcome?.(change, outcomeFor(change, resultsOf));
    },
  });
  const withdrawn = (plan.withdrawals ?? []).map((each) => withdrawStepId(each));
  return new Map([
    ...plan.changes.map((change) => [change.id, outcomeFor(change, resultsOf)] as const),
    ...withdrawn.flatMap((id) => {
      const result = results.get(id);
      return result ? [[id, outcomeOf([result])] as const] : [];
    }),
  ]);
}

function isUrgent({ action }: Step): boolean {
  return action === 'kill-flag';
}

/** In the order of the plan. */
type ResultsOf = (id: ObjectId) => readonly StepResult[];

function closedResult(closed: Closed | undefined): Skipped | undefined {
  if (!closed) return undefined;
  const { why, until, untilText } = closed;
  const when = untilText === null ? '' : `; it goes at ${untilText}`;
  const skipped = { status: 'skipped', why: `${why} by now${when}`, windowClosed: true } as const;
  return until === null ? skipped : { ...skipped, until };
}

/** Refusals by a service that cannot take two writes at the same time. */
const CONFLICTS = [409, 423];

function reasonToSkip(
  step: Step,
  results: ReadonlyMap<StepId, StepResult>,
  changeOf: ReadonlyMap<StepId, ObjectId>,
  signal: AbortSignal,
): Skipped | undefined {
  if (signal.aborted) return { status: 'skipped', why: INTERRUPTED };
  for (const need of step.needs) {
    const result = results.get(need);
    if (result?.status === 'succeeded') continue;
    const change = changeOf.get(need) ?? need;
    if (result?.status !== 'skipped')
      return { status: 'skipped', why: `needs ${change}, which failed` };
    if (change === step.change) return result;
    const { request, ...waits } = result;
    // As of the next run: a change that has its request holds up what uses it, and no other environment.
    const isSame = keyOfId(change) === keyOfId(step.change);
    if (request && isSame && 'environment' in step) continue;
    // A step that needs one that waits for a person waits as well.
    return { ...waits, isWaitingForAnother: true, why: `needs ${change}, which was skipped` };
  }
  return undefined;
}

/** @param attempts of each step so far; a step that was refused beside another one is sent twice. */
async function tracedResult(
  step: Step,
  context: ApplyContext,
  attempts: Map<StepId, number>,
): Promise<StepResult> {
  const attempt = (attempts.get(step.id) ?? 0) + 1;
  attempts.set(step.id, attempt);
  const facts = { 'flagkeel.object': step.change, 'flagkeel.action': step.action };
  return traced(
    'write',
    async () => resultOf(step, context),
    { ...facts, 'flagkeel.attempt': attempt },
    (result) => ({
      'flagkeel.result': result.status,
      ...(result.status === 'failed' && { 'error.type': result.error.code }),
    }),
  );
}

/**
 * A demand for a change request, or an interruption, is no failure, because the step was refused or never sent. But a write
 * that may have been made has failed, whatever ended it: "skipped" would let the run forget a created object.
 */
async function resultOf(step: Step, context: ApplyContext): Promise<StepResult> {
  try {
    const answer = await execute(step, context);
    return { status: 'succeeded', ...answer, isAside: step.action === 'withdraw-request' };
  } catch (error) {
    if (isFateUnknown(error)) return failure(error);
    if (error instanceof RejectedError && wantsRequest(error)) return askedResult(step, context);
    if (step.action === 'withdraw-request' && isRefusedWith(error, [403])) {
      return { ...WAITS, why: messageOf(error) + OTHERS_REQUEST };
    }
    if (error instanceof StepError && error.code === 'FLAG_GONE') {
      return { status: 'skipped', why: messageOf(error), overtaken: true };
    }
    if (error instanceof FlagkeelError && error.code === 'INTERRUPTED') {
      return { status: 'skipped', why: INTERRUPTED };
    }
    return failure(error);
  }
}

function failure(error: unknown): StepResult {
  return {
    status: 'failed',
    error: outcomeError(error),
    ...(isFateUnknown(error) && { fateUnknown: true }),
  };
}

/** Submits the change where the plan has a draft for it; otherwise it waits for a person. */
async function askedResult(step: Step, context: ApplyContext): Promise<StepResult> {
  if (!step.ask) return { ...WAITS, why: REQUEST_WANTED.byPlan };
  try {
    const ref = refOfId(step.change);
    if (!ref) throw new Error(`bug: ${step.change} is no object`);
    const draft = { draft: step.ask, ref, place: placeOf(step, context) };
    const request = await context.writer.submitChangeRequest(draft);
    if (request === null) return { ...WAITS, why: REQUEST_WANTED.noRequests };
    return { ...WAITS, why: requestText(request, context.now()), request };
  } catch (error) {
    if (isRefusedWith(error, CONFLICTS)) return { ...WAITS, why: error.serviceMessage };
    return failure(error);
  }
}

/** A foreign error may have come before the write or after it, so that its fate is unknown. */
function isFateUnknown(error: unknown): boolean {
  if (error instanceof FlagkeelError) return error.fateUnknown;
  return !(error instanceof StepError) || error.code === 'SEGMENT_SHRANK';
}

async function execute(step: Step, context: ApplyContext): Promise<WriteAnswer> {
  if (isUrgent(step) && context.killed.has(step.change)) return {};
  return context.writer.send(step, placeOf(step, context));
}

/** Withdrawals have no note, and other steps no environment: each is looked for where it is used. */
function placeOf(
  step: { readonly change: ObjectId; readonly environment?: string },
  { at, notes, now, observedAtMs }: ApplyContext,
): StepPlace {
  return {
    workspaceId: at.workspace.id,
    isStale: now() - observedAtMs > FRESH_MS,
    get note() {
      const found = notes.get(step.change);
      if (!found) throw new Error(`bug: ${step.change} has no title`);
      return found;
    },
    get environmentId() {
      const found = at.environments.find(({ name }) => name === step.environment);
      if (!found) throw new Error(`bug: environment "${step.environment ?? ''}" is not connected`);
      return found.id;
    },
  };
}

function outcomeFor(change: Change, resultsOf: ResultsOf): Outcome {
  const own = [...resultsOf(change.id), ...carriedResults(change, resultsOf)];
  const identities = identitiesOf(own);
  const [only, second] = own;
  // A later step of the same change would make the answer an old one.
  if (only?.status === 'succeeded' && only.created && second === undefined)
    return { status: 'applied', created: only.created };
  return identities ? withIdentities(outcomeOf(own), identities) : outcomeOf(own);
}

/** Results for an archived definition: it goes with its flag, and stays if that failed. */
function carriedResults({ id, ref, archive }: Change, resultsOf: ResultsOf): readonly StepResult[] {
  if (!archive || ref.environment === null) return [];
  const whole = keyOfId(id);
  const results = resultsOf(whole);
  const hasFailed = results.some(({ status }) => status === 'failed');
  return hasFailed ? [{ status: 'skipped', why: `needs ${whole}, which failed` }] : results;
}

/** The first failed step decides, or else the first skipped one. */
function outcomeOf(results: readonly StepResult[]): Outcome {
  const partly = results.some((each) => each.status === 'succeeded' && each.isAside !== true);
  const failed = results.filter((each) => each.status === 'failed');
  const [first] = failed;
  if (first) {
    const fate = failed.some(({ fateUnknown }) => fateUnknown) && { fateUnknown: true as const };
    return { status: 'failed', error: first.error, partly, ...fate };
  }
  const skipped = results.find((each) => each.status === 'skipped');
  if (skipped) return partly ? { ...skipped, partly } : skipped;
  return { status: 'applied' };
}

function identitiesOf(results: readonly StepResult[]): IdentitiesAnswer | undefined {
  const answers = results.flatMap((each) => {
    return each.status === 'succeeded' ? (each.identities ?? []) : [];
  });
  if (answers.length === 0) return undefined;
  return {
    written: answers.flatMap(({ written }) => written),
    failed: answers.flatMap(({ failed }) => failed),
  };
}

/** The service answers with success even if it refused some identities, so that a change can fail all the same. */
function withIdentities(outcome: Outcome, identities: IdentitiesAnswer): Outcome {
  const { written, failed } = identities;
  if (outcome.status !== 'applied' || failed.length === 0) return { ...outcome, identities };
  const all = failed.length + written.length;
  const error: OutcomeError = {
    code: 'IDENTITIES_REFUSED',
    message: `cannot write ${failed.length} of ${all} identities: the service refused them`,
    status: null,
    transactionId: null,
  };
  return { status: 'failed', error, partly: written.length > 0, identities };
}

function outcomeError(error: unknown): OutcomeError {
  const rejected = error instanceof RejectedError ? error : undefined;
  return {
    code: codeOf(error),
    message: messageOf(error),
    status: rejected?.status ?? null,
    transactionId: rejected?.transactionId ?? null,
  };
}

function codeOf(error: unknown): OutcomeCode {
  if (error instanceof StepError && error.code !== 'FLAG_GONE') return error.code;
  if (error instanceof NameArchivedError) return 'NAME_ARCHIVED';
  return error instanceof FlagkeelError ? error.code : 'BUG';
}
