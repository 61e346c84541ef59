import { EXIT, FlaghoistError, messageOf, type ErrorCode, type ExitCode } from '../errors.js';
import type { AdminWriter } from '../api/writer.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Fence } from '../model/fence.js';
import type { Words } from '../model/run.js';
import { plan, reconcile } from '../reconcile.js';
import { clean } from '../report/clean.js';
import { diagnosticsText } from '../report/diagnostics-text.js';
import { planDocument, type PlanDocument } from '../report/plan-json.js';
import { planText } from '../report/plan-text.js';
import { errorText } from '../report/run-error.js';
import { summaryLine } from '../report/summary-line.js';
import type { KillResult } from '../stages/kill-lane.js';
import { exitCodeOf, exitCodeOfSignal, reportOf } from '../stages/reporting.js';
import { InvalidSpecsError, type Applied, type Planned, type RunContext } from '../stages/run.js';
import type { GitMemory } from '../git/git-memory.js';
import type { Source } from '../stages/source.js';
import type { RunResult } from './view.js';

/** One run, open; see `openRun`. */
export interface OpenedRun extends AsyncDisposable {
  readonly context: RunContext;
  readonly openWriter: () => AdminWriter;
  /** Sent up to now, tries counted one by one. */
  readonly requests: () => number;
}

/** What one run is to do, as far as it differs from run to run. */
export interface RunOrder {
  /** @param memory of what git said in earlier runs; absent: of none. */
  readonly open: (memory?: GitMemory) => Promise<Source>;
  /**
   * - `touched`: only at what changed since the runs before, as far as these know; drift elsewhere is not seen
   * - `full`: at everything
   * - `apart`: as `touched`, and the runs to come learn nothing of it
   */
  readonly look: 'touched' | 'full' | 'apart';
  /** Keys are listed also where their number is the remembered one. */
  readonly everyKey: boolean;
  readonly suspend: boolean;
  readonly allowOlder: boolean;
  readonly dryRun: boolean;
  /** Ends the run after its request under way. */
  readonly signal: AbortSignal;
  readonly fence?: Fence | undefined;
}

export type OpenRun = (order: RunOrder) => Promise<OpenedRun>;

export interface CycleEvents {
  readonly now: () => number;
  /** Replace what the commits say. */
  readonly words: Partial<Words>;
  readonly onKill: (id: string, result: KillResult) => void;
}

/** What one run came to. */
export interface CycleEnd {
  readonly result: RunResult;
  readonly exitCode: ExitCode;
  readonly summary: string;
  readonly text: string;
  readonly plan: PlanDocument | null;
  readonly requests: number;
  /** In the order of application; only where there is a plan. */
  readonly environments?: readonly string[];
  /** The same run may succeed later without anybody doing anything. */
  readonly mayRetry: boolean;
  /** Why the service could not be read; null: it could; undefined: it was not asked. */
  readonly serviceTrouble?: string | null;
  readonly diagnostics?: readonly Diagnostic[];
  readonly error?: unknown;
}

const WIDTH = 100;

/** Plans, applies and verifies once. Never throws: how it ended is the answer. */
export async function runCycle(
  openRun: OpenRun,
  order: RunOrder,
  events: CycleEvents,
): Promise<CycleEnd> {
  let requests = (): number => 0;
  let hasFailedKill = false;
  const onKill: CycleEvents['onKill'] = (id, result) => {
    hasFailedKill ||= result.status === 'failed';
    events.onKill(id, result);
  };
  const finish = (end: Omit<CycleEnd, 'requests'>): CycleEnd => ({
    ...end,
    mayRetry: end.mayRetry || hasFailedKill,
    requests: requests(),
  });
  try {
    await using run = await openRun(order);
    requests = run.requests;
    const result = order.dryRun
      ? await plan(run.context)
      : await reconcile(run.context, {
          openWriter: run.openWriter,
          now: events.now,
          signal: order.signal,
          progress: {},
          words: events.words,
          onKill,
        });
    return finish(endOf(result, run, order.signal));
  } catch (error) {
    return finish(failedEnd(error, order.signal));
  }
}

function endOf(
  result: Planned | Applied,
  run: OpenedRun,
  signal: AbortSignal,
): Omit<CycleEnd, 'requests'> {
  const report = reportOf(result, run);
  const outcome = resultOf(result, signal);
  const notes = [
    ...('unverified' in result ? [`Not verified: ${result.unverified}\n`] : []),
    ...('unremembered' in result ? [`Not remembered: ${result.unremembered}\n`] : []),
  ];
  const invalid = diagnosticsText(result.invalid, { color: false });
  const planned = planText(report, { color: false, width: WIDTH, showKeys: false });
  return {
    result: outcome,
    exitCode: exitCodeOf(result, signal),
    summary: summaryLine(report),
    text: [...(invalid === '' ? [] : [`${invalid}\n`]), planned, ...notes].join(''),
    plan: planDocument(report),
    environments: report.environments,
    mayRetry: outcome === 'partial' || outcome === 'failed',
    serviceTrouble: null,
    diagnostics: result.invalid,
  };
}

function resultOf(result: Planned | Applied, signal: AbortSignal): RunResult {
  if (!('outcomes' in result)) return result.guardFindings.length > 0 ? 'refused' : 'in-sync';
  if (!result.converged) return signal.aborted ? 'interrupted' : 'partial';
  if (result.unremembered !== undefined) return 'failed';
  if (result.invalid.length > 0) return 'degraded';
  if (result.input.policy.suspended) return 'suspended';
  return result.plan.changes.length === 0 ? 'in-sync' : 'applied';
}

/** What of the service, of the way to it or of the key for it may be put right without a commit. */
const SERVICE_TROUBLES: readonly ErrorCode[] = [
  'NO_KEY',
  'ORIGIN_NOT_ALLOWED',
  'UNREACHABLE',
  'UNAUTHORISED',
  'UNREADABLE',
  'NOT_ON_SERVICE',
];

function failedEnd(error: unknown, signal: AbortSignal): Omit<CycleEnd, 'requests'> {
  const message = messageOf(error);
  const end = { summary: message, text: errorText(error), plan: null, error };
  if (!(error instanceof FlaghoistError)) {
    return { ...end, result: 'failed', exitCode: EXIT.failed, mayRetry: true };
  }
  const { exitCode, code } = error;
  if (signal.aborted) {
    return { ...end, result: 'interrupted', exitCode: exitCodeOfSignal(signal), mayRetry: false };
  }
  if (error instanceof InvalidSpecsError) {
    const { diagnostics } = error;
    const text = diagnosticsText(diagnostics, { color: false });
    return { ...end, text, diagnostics, result: 'invalid', exitCode, mayRetry: false };
  }
  if (code === 'SPECS_INVALID') return { ...end, result: 'invalid', exitCode, mayRetry: false };
  if (exitCode === EXIT.refused) {
    return { ...end, result: 'refused', exitCode, mayRetry: code === 'IN_USE' };
  }
  const isService = SERVICE_TROUBLES.includes(code);
  return {
    ...end,
    result: 'failed',
    exitCode,
    mayRetry: true,
    ...(isService && { serviceTrouble: message }),
  };
}

/** Of a run that had nothing to read. */
export function unseenEnd(why: string | null): CycleEnd {
  const summary = why ?? 'the source was not seen yet';
  return {
    result: 'failed',
    exitCode: EXIT.failed,
    summary,
    text: `flaghoist: ${clean(summary)}\n`,
    plan: null,
    requests: 0,
    mayRetry: true,
  };
}
