import { EXIT, exitCodeOfSignal, FlagkeelError, type ExitCode } from '../errors.js';
import { tracedRun } from '../platform/telemetry.js';
import { outcomeOf, type PlanReport } from '../report/plan-report.js';
import type { Terminal } from './terminal.js';

interface CommandRun {
  readonly name: string;
  readonly directory: string;
  /** False: a plan is all that the command makes. Default: it makes none. */
  readonly writes?: boolean;
}

/** The end of a command with the plan that it made, or the reason why there is none. */
interface CommandEnd {
  readonly exitCode: ExitCode;
  readonly report?: PlanReport;
  readonly error?: { readonly code: string };
}

/** Does the work of a command in one directory as one run, as OpenTelemetry shows it. */
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
