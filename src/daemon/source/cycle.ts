import { EXIT, exitCodeOfSignal, FlagkeelError, messageOf } from '../../errors.js';
import type { AdminWriter } from '../../admin-api/writer.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { Fence, Progress, RunOptions } from '../../model/run.js';
import type { ChangeNote, KillResult, Outcome } from '../../model/outcome.js';
import { isNotLookedAt, type Change, type Plan } from '../../model/plan.js';
import { isDone, type Verdict } from '../../model/verdict.js';
import { plan, reconcile } from '../../reconcile/reconcile.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { planDocument } from '../../report/json/plan.js';
import { planText, summaryLine } from '../../report/text/plan.js';
import { openRows, planView } from '../../report/view/plan-view.js';
import { byEnvironment, shownEnvironments } from '../../report/plan-report.js';
import { errorText } from '../../report/text/error.js';
import { exitCodeOf, orderedKillsIn, reportOf, unmanagedIn } from '../../reconcile/result.js';
import {
  InvalidSpecsError,
  type Applied,
  type Planned,
  type RunContext,
} from '../../reconcile/context.js';
import type { GitCache } from '../../git/cache.js';
import type { Source } from '../../git/spec-source.js';
import type { OrderedKill, RunRecord, RunResult, Trigger, UnmanagedNames } from '../view.js';
import { accessTroubleOf, type NewTrouble } from '../health.js';
import { flagsSeen, type SeenFlags } from './live-flags.js';

export interface OpenedRun extends AsyncDisposable {
  readonly context: RunContext;
  /** Call it only after the reader was opened. */
  readonly openWriter: () => AdminWriter;
  readonly requests: () => number;
}

export interface RunOrder extends Pick<
  RunOptions,
  'keys' | 'touchedSince' | 'suspend' | 'allowOlder' | 'adopt' | 'approvals'
> {
  readonly open: (memory?: GitCache) => Promise<Source>;
  readonly isolated: boolean;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly fence?: Fence | undefined;
  readonly progress: Progress;
}

/**
 * Triggers that need a look at everything: the start, also of a replica that takes over and has missed what others did;
 * the clock; people who ask.
 */
const FULL_TRIGGERS: readonly Trigger[] = ['start', 'schedule', 'request', 'signal', 'adopt'];

/** Triggers from polling the source, which have already found the change. */
export const CHANGE_TRIGGERS: readonly Trigger[] = ['commit', 'files', 'kill'];

export function observationFor(triggers: readonly Trigger[]): 'full' | 'touched' {
  return triggers.some((trigger) => FULL_TRIGGERS.includes(trigger)) ? 'full' : 'touched';
}

export type OpenRun = (order: RunOrder) => Promise<OpenedRun>;

export interface CycleEvents {
  readonly now: () => number;
  readonly note: Partial<ChangeNote>;
  readonly onKill: (id: string, result: KillResult) => void;
  readonly onOutcome: (change: Change, outcome: Outcome) => void;
}

/** Members that may be absent come with a plan, if they say nothing else. */
export interface CycleEnd extends Pick<
  RunRecord,
  'result' | 'exitCode' | 'summary' | 'text' | 'plan' | 'open' | 'requests'
> {
  readonly environments?: readonly string[];
  /** When something held back may go by itself, since the epoch; null if nothing will, undefined without a plan. */
  readonly dueAt?: number | null;
  /** Whether another try may succeed without anyone's help. */
  readonly mayRetry: boolean;
  /** Why the service could not be read; null if it could, undefined if the run sent it no request. */
  readonly accessTrouble?: NewTrouble | null;
  readonly judged?: { readonly verdict: Verdict; readonly plan: Plan };
  readonly diagnostics?: readonly Diagnostic[];
  readonly kills?: readonly OrderedKill[];
  readonly suspendedByConfig?: boolean;
  readonly flags?: readonly SeenFlags[];
  /** Names that no file declares; null if the run did not list the service's names. */
  readonly unmanaged?: UnmanagedNames | null;
  readonly error?: unknown;
}

const WIDTH = 100;

type Ended = Omit<CycleEnd, 'requests'>;

/** Never throws. */
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
  const finish = (end: Ended): CycleEnd => ({
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
          progress: { onOutcome: events.onOutcome },
          note: events.note,
          onKill,
        });
    return finish(endOf(result, run, order.signal));
  } catch (error) {
    return finish(failedEnd(error, order.signal));
  }
}

function endOf(result: Planned | Applied, run: OpenedRun, signal: AbortSignal): Ended {
  const report = reportOf(result, run);
  const outcome = resultOf(result, report.verdict, signal);
  const notes = [
    ...('unverified' in result ? [`Not verified: ${result.unverified}\n`] : []),
    ...('unsaved' in result ? [`Not remembered: ${result.unsaved}\n`] : []),
  ];
  const invalid = diagnosticsText(result.invalid, { color: false });
  const options = { color: false, width: WIDTH, showKeys: false, verbose: true };
  const view = planView(report, options);
  const places = shownEnvironments(report);
  const kills = orderedKillsIn(result).map(({ id, reason = null, by = null, since = null }) => {
    return { id, reason, by, since };
  });
  return {
    result: outcome,
    exitCode: exitCodeOf(result, signal),
    summary: summaryLine(report),
    text: [
      ...(invalid === '' ? [] : [`${invalid}\n`]),
      planText(report, options, view),
      ...notes,
    ].join(''),
    plan: planDocument(report),
    open: openRows(report, view),
    environments: places,
    dueAt: firstDue(result),
    mayRetry: outcome === 'partial' || outcome === 'failed',
    accessTrouble: null,
    judged: { verdict: report.verdict, plan: result.plan },
    diagnostics: result.invalid,
    kills: byEnvironment(kills, places),
    suspendedByConfig: result.input.desired.config.suspend,
    flags: flagsSeen(result),
    unmanaged: unmanagedIn(result),
  };
}

/**
 * The earliest time at which a held change or the next step of a ramp may go by itself. An apply that was resumed is due
 * at once for the look that it put off.
 */
function firstDue(result: Planned | Applied): number | null {
  const outcomes = 'outcomes' in result ? [...result.outcomes.values()] : [];
  const untils = [
    ...result.plan.withheld.map(({ until }) => until),
    ...outcomes.map((each) => (each.status === 'skipped' ? each.until : undefined)),
  ];
  const { nextDueMs: step, nowMs } = result.input.moment;
  // Without its record, the next run would resume the same apply.
  const isRecorded = 'outcomes' in result && result.unsaved === undefined;
  const isLookOwed = isRecorded && result.plan.notCompared.some(isNotLookedAt);
  const moments = [
    ...(isLookOwed ? [nowMs] : []),
    ...(step === null ? [] : [step]),
    ...untils.flatMap((until) => (until === undefined ? [] : [Date.parse(until)])),
  ];
  return moments.length === 0 ? null : Math.min(...moments);
}

function resultOf(result: Planned | Applied, verdict: Verdict, signal: AbortSignal): RunResult {
  if (!('outcomes' in result)) {
    if (result.guardFindings.length > 0) return 'refused';
    return verdict.whole === 'live' ? 'in-sync' : 'waiting';
  }
  const { plan: done, unsaved, invalid, input } = result;
  if (signal.aborted && verdict.whole !== 'live') return 'interrupted';
  if (!isDone(verdict)) return 'partial';
  if (unsaved !== undefined) return 'failed';
  if (invalid.length > 0) return 'degraded';
  if (input.policy.suspended !== null) return 'suspended';
  if (verdict.whole === 'held') return 'held';
  if (verdict.whole === 'waits') return 'waiting';
  return done.changes.length === 0 ? 'in-sync' : 'applied';
}

function failedEnd(error: unknown, signal: AbortSignal): Ended {
  const { exitCode = EXIT.failed, code = null } = error instanceof FlagkeelError ? error : {};
  const ended = { summary: messageOf(error), text: errorText(error), plan: null, error, exitCode };
  const end = { ...ended, mayRetry: false };
  if (code !== null && signal.aborted) {
    return { ...end, result: 'interrupted', exitCode: exitCodeOfSignal(signal) };
  }
  if (error instanceof InvalidSpecsError) {
    const { diagnostics } = error;
    const text = diagnosticsText(diagnostics, { color: false });
    return { ...end, text, diagnostics, result: 'invalid' };
  }
  if (code === 'SPECS_INVALID') return { ...end, result: 'invalid' };
  if (exitCode === EXIT.refused || code === 'UNSIGNED') {
    return { ...end, result: 'refused', mayRetry: code === 'IN_USE' };
  }
  const accessTrouble = accessTroubleOf(error);
  return { ...end, result: 'failed', mayRetry: true, ...(accessTrouble && { accessTrouble }) };
}

export function unseenEnd(why: string | null): CycleEnd {
  const summary = why ?? 'the source was not seen yet';
  return {
    result: 'failed',
    exitCode: EXIT.failed,
    summary,
    text: `flagkeel: ${clean(summary)}\n`,
    plan: null,
    requests: 0,
    mayRetry: true,
  };
}
