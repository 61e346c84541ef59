import { FlaghoistError, messageOf, RejectedError } from '../errors.js';
import type { ObjectId } from '../model/object-id.js';
import type { Plan } from '../model/plan.js';
import type {
  IdentitiesAnswer,
  Outcome,
  OutcomeCode,
  OutcomeError,
  Outcomes,
} from '../model/run.js';
import type { Step, StepId } from '../model/step.js';
import {
  ChangedMeanwhileError,
  executors,
  SegmentShrankError,
  type ApplyContext,
} from './executors.js';

const INTERRUPTED = 'the run was interrupted';

export interface ApplyProgress {
  /** Called before each request. */
  onStep?(step: Step, done: number, total: number): void;
}

type Skipped = Extract<Outcome, { status: 'skipped' }>;

type StepResult =
  | { readonly status: 'succeeded'; readonly answer: IdentitiesAnswer | undefined }
  | { readonly status: 'failed'; readonly error: unknown }
  | Skipped;

/**
 * Walks the plan, one request at a time, in its order.
 *
 * A step that fails stops only what needs it. Once `signal` is aborted the request under way is finished and all the
 * rest is skipped. Never throws on what the service does; every change of the plan has an outcome.
 */
export async function applyPlan(
  plan: Plan,
  context: ApplyContext,
  signal: AbortSignal,
  progress: ApplyProgress = {},
): Promise<Outcomes> {
  const results = new Map<StepId, StepResult>();
  const changeOf = new Map(plan.steps.map((step) => [step.id, step.change]));
  for (const [done, step] of plan.steps.entries()) {
    const skipped = reasonToSkip(step, results, changeOf, signal);
    if (skipped) {
      results.set(step.id, skipped);
      continue;
    }
    progress.onStep?.(step, done, plan.steps.length);
    // In sequence: the order is what keeps rules from naming what is not there yet.
    results.set(step.id, await resultOf(step, context));
  }
  return outcomesOf(plan, results);
}

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
    // What waits for an approval makes all that needs it wait as well.
    return change === step.change
      ? result
      : { ...result, why: `needs ${change}, which was skipped` };
  }
  return undefined;
}

async function resultOf(step: Step, context: ApplyContext): Promise<StepResult> {
  try {
    return { status: 'succeeded', answer: await execute(step, context) };
  } catch (error) {
    if (isApprovalNeeded(error)) {
      return {
        status: 'skipped',
        why: 'the service wants an approval for it first',
        approvalNeeded: true,
      };
    }
    if (error instanceof FlaghoistError && error.code === 'INTERRUPTED') {
      return { status: 'skipped', why: INTERRUPTED };
    }
    return { status: 'failed', error };
  }
}

/** @returns what a step that succeeded has to tell; most have nothing. */
async function execute(step: Step, context: ApplyContext): Promise<IdentitiesAnswer | undefined> {
  if (step.action === 'write-identities') return executors[step.action](step, context);
  type Executor = (step: Step, context: ApplyContext) => Promise<unknown>;
  await (executors[step.action] as Executor)(step, context);
  return undefined;
}

/** The service has no code of its own for this refusal; status and opening words are all that it documents. */
function isApprovalNeeded(error: unknown): boolean {
  return (
    error instanceof RejectedError &&
    error.status === 403 &&
    error.serviceMessage.startsWith('Approvals are required')
  );
}

function outcomesOf(plan: Plan, results: ReadonlyMap<StepId, StepResult>): Outcomes {
  const stepsOf = new Map<ObjectId, StepResult[]>();
  for (const step of plan.steps) {
    const result = results.get(step.id);
    if (result) stepsOf.set(step.change, [...(stepsOf.get(step.change) ?? []), result]);
  }
  return new Map(
    plan.changes.map(({ id }) => {
      const own = stepsOf.get(id) ?? [];
      const identities = identitiesOf(own);
      return [id, identities ? withIdentities(outcomeOf(own), identities) : outcomeOf(own)];
    }),
  );
}

function outcomeOf(results: readonly StepResult[]): Outcome {
  const partly = results.some(({ status }) => status === 'succeeded');
  for (const result of results) {
    if (result.status === 'failed') {
      return { status: 'failed', error: outcomeError(result.error), partly };
    }
    if (result.status === 'skipped') return result;
  }
  return { status: 'applied' };
}

/** Undefined where no step told of any. */
function identitiesOf(results: readonly StepResult[]): IdentitiesAnswer | undefined {
  const answers = results.flatMap((result) =>
    result.status === 'succeeded' && result.answer ? [result.answer] : [],
  );
  if (answers.length === 0) return undefined;
  return {
    written: answers.flatMap(({ written }) => written),
    failed: answers.flatMap(({ failed }) => failed),
  };
}

/** A request that was answered may still have refused some of what it held. */
function withIdentities(outcome: Outcome, identities: IdentitiesAnswer): Outcome {
  const { written, failed } = identities;
  if (outcome.status !== 'applied') return { ...outcome, identities };
  if (failed.length === 0) return { ...outcome, identities };
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
  if (error instanceof ChangedMeanwhileError) return 'CHANGED_MEANWHILE';
  if (error instanceof SegmentShrankError) return 'SEGMENT_SHRANK';
  return error instanceof FlaghoistError ? error.code : 'BUG';
}
