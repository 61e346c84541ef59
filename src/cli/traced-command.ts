import { EXIT, exitCodeOfSignal, FlagkeelError, type ExitCode } from '../errors.js';
import { tracedRun } from '../platform/telemetry.js';
import { outcomeOf, type PlanReport } from '../report/plan-report.js';
import type { Screen, Terminal } from './terminal.js';
import type { KillResult, KillResults } from '../model/outcome.js';
import { InvalidSpecsError } from '../reconcile/context.js';
import { failureMarkdown } from '../report/markdown/plan.js';
import { diagnosticsText } from '../report/text/diagnostics.js';
import { killsText } from '../report/view/verdict.js';
import type { DirectoryResult } from './directories.js';

interface CommandRun {
  readonly name: string;
  readonly directory: string;
  /** False: a plan is all that the command makes. Default: it makes none. */
  readonly writes?: boolean;
}

interface CommandEnd {
  readonly exitCode: ExitCode;
  readonly report?: PlanReport;
  readonly error?: { readonly code: string };
}

export async function tracedCommand<T extends ExitCode | CommandEnd>(
  { name, directory, writes }: CommandRun,
  { environment, signal }: Pick<Terminal, 'environment' | 'signal'>,
  task: () => Promise<T>,
): Promise<T> {
  // The current directory is called as `watch` calls it.
  const source = directory === '.' ? 'default' : directory;
  const caught = async (): Promise<T | FlagkeelError> =>
    task().catch((error: unknown) => {
      if (error instanceof FlagkeelError) return error;
      throw error;
    });
  const end = await tracedRun({ name, source, environment }, caught, (value) => {
    if (value instanceof FlagkeelError) {
      const exitCode = signal.aborted ? exitCodeOfSignal(signal) : value.exitCode;
      return { exitCode, result: RESULTS[exitCode] ?? 'failed', error: value };
    }
    const { exitCode, report, error }: CommandEnd =
      typeof value === 'number' ? { exitCode: value } : value;
    const isWell = exitCode === EXIT.ok || exitCode === EXIT.changes;
    const result = isWell ? wellResult(report, writes) : (RESULTS[exitCode] ?? 'failed');
    return { exitCode, result, error: error?.code };
  });
  if (end instanceof FlagkeelError) throw end;
  return end;
}

function wellResult(report: PlanReport | undefined, writes: boolean | undefined): string {
  if (writes === undefined) return 'done';
  if (!writes) return 'planned';
  // Kills alone have no plan.
  if (report?.converged === undefined) return 'done';
  const { whole } = report.verdict;
  if (whole !== 'live') return whole === 'waits' ? 'waiting' : whole;
  const isApplied = report.plan.changes.some(
    ({ id }) => outcomeOf(report, id)?.status === 'applied',
  );
  return isApplied ? 'applied' : 'in-sync';
}

/** What the daemon calls runs that ended with these codes. */
const RESULTS: Partial<Record<ExitCode, string>> = {
  [EXIT.held]: 'held',
  [EXIT.invalidSpecs]: 'invalid',
  [EXIT.guardRefused]: 'refused',
  [EXIT.notConverged]: 'partial',
  [EXIT.refused]: 'refused',
  [EXIT.sigint]: 'interrupted',
  [EXIT.sigterm]: 'interrupted',
};

export interface PlannedDirectory extends DirectoryResult {
  /** The plan, or the plan with its results; unset where there is none. */
  readonly report?: PlanReport;
  readonly error?: { readonly code: string; readonly message: string };
}

export function killsDirectory(
  directory: string,
  results: KillResults,
  filters: readonly string[],
): PlannedDirectory {
  const counted = (wanted: KillResult['status']): number =>
    [...results.values()].filter(({ status }) => status === wanted).length;
  const failed = counted('failed');
  return {
    directory,
    exitCode: failed === 0 ? EXIT.ok : EXIT.notConverged,
    text: `Kills: ${String(counted('killed'))} sent. ${killsText(failed, filters.length > 0)}.\n`,
    document: () => ({
      formatVersion: 1,
      kills: [...results].map(([id, { status }]) => ({ id, status })),
      // Kills of definitions that do not exist are not missed.
      converged: failed === 0,
    }),
  };
}

/** Prints a `FlagkeelError` in place of the plan, so that the other directories are planned all the same. */
export async function plannedOrRefused(
  run: { name: string; directory: string; writes: boolean; format: string | undefined },
  screen: Screen,
  task: () => Promise<PlannedDirectory>,
): Promise<PlannedDirectory> {
  const { terminal } = screen;
  const { directory, format } = run;
  const refused = (error: unknown): PlannedDirectory => {
    if (!(error instanceof FlagkeelError)) throw error;
    screen.failure(error);
    const { code, message } = error;
    const cause = { code, message };
    const diagnostics = error instanceof InvalidSpecsError ? error.diagnostics : undefined;
    return {
      directory,
      exitCode: terminal.signal.aborted ? exitCodeOfSignal(terminal.signal) : error.exitCode,
      text:
        format === 'markdown'
          ? failureMarkdown(message, diagnostics)
          : diagnosticsText(diagnostics ?? [], screen),
      error: cause,
      document: () => ({ formatVersion: 1, error: cause, ...(diagnostics && { diagnostics }) }),
    };
  };
  return tracedCommand(run, terminal, async () => task().catch(refused));
}
