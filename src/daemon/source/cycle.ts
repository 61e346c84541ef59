import { EXIT, FlagkeelError, messageOf, type ErrorCode, type ExitCode } from '../../errors.js';
import type { AdminWriter } from '../../admin-api/writer.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { byCodeUnits } from '../../model/json.js';
import type { Approval, Fence, Suspension } from '../../model/run.js';
import type { KillResult, ChangeNote } from '../../model/outcome.js';
import { objectId } from '../../model/ref.js';
import { plan, reconcile } from '../../reconcile/reconcile.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { planDocument, type PlanDocument } from '../../report/json/plan.js';
import { planText } from '../../report/text/plan.js';
import { errorText } from '../../report/text/error.js';
import { summaryLine } from '../../report/text/summary.js';
import { nextStepDue } from '../../reconcile/ramps/ladders.js';
import { exitCodeOf, exitCodeOfSignal, reportOf, unmanagedIn } from '../../reconcile/result.js';
import {
  InvalidSpecsError,
  type Applied,
  type Planned,
  type RunContext,
} from '../../reconcile/context.js';
import type { GitCache } from '../../git/cache.js';
import type { Source } from '../../git/spec-source.js';
import type { OrderedKill, RunResult, Trigger, UnmanagedNames } from '../view.js';
import { flagsSeen, type SeenFlags } from './live-flags.js';

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
  readonly open: (memory?: GitCache) => Promise<Source>;
  /**
   * - `touched`: only at what changed since the runs before, as far as these know; drift elsewhere is not seen
   * - `full`: at everything
   * - `isolated`: as `touched`, and the runs to come learn nothing of it
   */
  readonly mode: 'touched' | 'full' | 'isolated';
  /** Keys are listed also where their number is the remembered one. */
  readonly everyKey: boolean;
  /** By request; null: nobody asked for it. */
  readonly suspend: Suspension | null;
  readonly allowOlder: boolean;
  /** Takes over what no run remembers, also where that is withheld otherwise. */
  readonly adopt: boolean;
  readonly dryRun: boolean;
  /** Ends the run after its requests under way. */
  readonly signal: AbortSignal;
  readonly fence?: Fence | undefined;
  /** Leave for the plan with this hash to pass guards, windows and freezes; null: nobody gave any. */
  readonly approval: Approval | null;
}

/** A start, also as the one who takes over and knows nothing of what others did since; the clock; people who want to know. */
const FULL_TRIGGERS: ReadonlySet<Trigger> = new Set([
  'start',
  'schedule',
  'request',
  'signal',
  'adopt',
]);

/** Triggers that come from polling the source, and bring the change that it found with them. */
export const CHANGE_TRIGGERS: readonly Trigger[] = ['commit', 'files', 'kill'];

/** How much of the service a run with these triggers observes. */
export function observationFor(triggers: readonly Trigger[]): 'full' | 'touched' {
  return triggers.some((trigger) => FULL_TRIGGERS.has(trigger)) ? 'full' : 'touched';
}

export type OpenRun = (order: RunOrder) => Promise<OpenedRun>;

export interface CycleEvents {
  readonly now: () => number;
  /** Replace what the commits say. */
  readonly note: Partial<ChangeNote>;
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
  /** When something that is held back goes by itself, ISO 8601; null: nothing does; undefined: there is no plan that says so. */
  readonly dueAt?: string | null;
  /** The same run may succeed later without anybody doing anything. */
  readonly mayRetry: boolean;
  /** Why the service could not be read; null: it could; undefined: it was not asked. */
  readonly serviceTrouble?: string | null;
  readonly diagnostics?: readonly Diagnostic[];
  /** Only where there is a plan. */
  readonly kills?: readonly OrderedKill[];
  /** `suspend: true` in the config; only where there is a plan. */
  readonly suspendedByConfig?: boolean;
  /** What was seen of the flags that git declares; only where there is a plan. */
  readonly flags?: readonly SeenFlags[];
  /** Names that no file declares; null: the service was not asked to list them. */
  readonly unmanaged?: UnmanagedNames | null;
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
          note: events.note,
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
    ...('unsaved' in result ? [`Not remembered: ${result.unsaved}\n`] : []),
  ];
  const invalid = diagnosticsText(result.invalid, { color: false });
  const planned = planText(report, { color: false, width: WIDTH, showKeys: false, verbose: true });
  return {
    result: outcome,
    exitCode: exitCodeOf(result, signal),
    summary: summaryLine(report),
    text: [...(invalid === '' ? [] : [`${invalid}\n`]), planned, ...notes].join(''),
    plan: planDocument(report),
    environments: report.environments,
    dueAt: firstDue(result),
    mayRetry: outcome === 'partial' || outcome === 'failed',
    serviceTrouble: null,
    diagnostics: result.invalid,
    kills: killsOf(result),
    suspendedByConfig: result.input.desired.config.suspend,
    flags: flagsSeen(result),
    unmanaged: unmanagedIn(result),
  };
}

/** The earliest moment at which something goes by itself: what this run held back, or the step of a ramp. ISO 8601 in UTC. */
function firstDue(result: Planned | Applied): string | null {
  const outcomes = 'outcomes' in result ? [...result.outcomes.values()] : [];
  const step = nextStepDue(result.input);
  const moments = [
    ...(step === null ? [] : [step]),
    ...result.plan.withheld.flatMap(({ until }) => until ?? []),
    ...outcomes.flatMap((each) => (each.status === 'skipped' ? (each.until ?? []) : [])),
  ];
  return moments.sort(byCodeUnits)[0] ?? null;
}

/** What git keeps killed, the break-glass list first, because it says why. */
function killsOf({ input }: Planned | Applied): OrderedKill[] {
  const { kills, flags } = input.desired;
  const listed = kills.map(({ flag, environment, reason, by, since }): OrderedKill => {
    const id = objectId({ kind: 'flag', name: flag, environment });
    return { id, reason, by: by ?? null, since: since ?? null };
  });
  const known = new Set(listed.map(({ id }) => id));
  const own = [...flags.values()].flatMap(({ name, environments }) =>
    [...environments].flatMap(([environment, { fields }]): OrderedKill[] => {
      const id = objectId({ kind: 'flag', name, environment });
      return fields.killed === true && !known.has(id)
        ? [{ id, reason: null, by: null, since: null }]
        : [];
    }),
  );
  return [...listed, ...own];
}

function resultOf(result: Planned | Applied, signal: AbortSignal): RunResult {
  if (!('outcomes' in result)) return result.guardFindings.length > 0 ? 'refused' : 'in-sync';
  if (signal.aborted && result.standing !== 'in-sync') return 'interrupted';
  if (result.standing === 'open') return 'partial';
  if (result.unsaved !== undefined) return 'failed';
  if (result.invalid.length > 0) return 'degraded';
  if (result.input.policy.suspended !== null) return 'suspended';
  if (result.standing === 'held') return 'held';
  if (result.standing === 'waits') return 'waiting';
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
  if (!(error instanceof FlagkeelError)) {
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
    text: `flagkeel: ${clean(summary)}\n`,
    plan: null,
    requests: 0,
    mayRetry: true,
  };
}
