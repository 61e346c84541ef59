import { EXIT, type ExitCode } from '../errors.js';
import { tracedRun } from '../platform/telemetry.js';
import { outcomeOf, type PlanReport } from '../report/plan-report.js';
import type { Terminal } from './terminal.js';

interface CommandRun {
  readonly name: string;
  readonly directory: string;
  readonly terminal: Pick<Terminal, 'environment'>;
  /** False: a plan is all that the command makes. Default: it makes none. */
  readonly writes?: boolean;
}

/** The end of a command with the plan that it made, or the reason why there is none. */
type CommandEnd = ExitCode | DirectoryEnd;

interface DirectoryEnd {
  readonly exitCode: ExitCode;
  readonly report?: PlanReport;
  readonly error?: { readonly code: string };
}

/** Does the work of a command in one directory as one run, as OpenTelemetry shows it. */
export async function tracedCommand<T extends CommandEnd>(
  { name, directory, terminal: { environment }, writes }: CommandRun,
  task: () => Promise<T>,
): Promise<T> {
  // The current directory is called as `watch` calls it.
  const source = directory === '.' ? 'default' : directory;
  return tracedRun({ name, source, environment }, task, (end: CommandEnd) => {
    const { exitCode, report, error }: DirectoryEnd =
      typeof end === 'number' ? { exitCode: end } : end;
    const isWell = exitCode === EXIT.ok || exitCode === EXIT.changes;
    const result = isWell ? wellResult(report, writes) : (RESULTS[exitCode] ?? 'failed');
    return { exitCode, result, error: error?.code };
  });
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
