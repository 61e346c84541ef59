import { FlaghoistError, messageOf, RejectedError } from '../errors.js';
import type { ObjectId } from '../model/object-id.js';
import type { Plan } from '../model/plan.js';
import type { Outcome, OutcomeCode, OutcomeError, Outcomes } from '../model/run.js';
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
  | { readonly status: 'succeeded' }
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
    await execute(step, context);
    return { status: 'succeeded' };
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

async function execute(step: Step, context: ApplyContext): Promise<void> {
  const executor = executors[step.action] as (step: Step, context: ApplyContext) => Promise<void>;
  await executor(step, context);
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
  return new Map(plan.changes.map(({ id }) => [id, outcomeOf(stepsOf.get(id) ?? [])]));
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
