import { EXIT, exitCodeOfSignal, FlagkeelError } from '../errors.js';
import type { KillResult, KillResults } from '../model/outcome.js';
import { InvalidSpecsError } from '../reconcile/context.js';
import { failureMarkdown } from '../report/markdown/plan.js';
import { diagnosticsText } from '../report/text/diagnostics.js';
import type { PlanReport } from '../report/plan-report.js';
import { killsText } from '../report/view/verdict.js';
import type { DirectoryResult } from './directories.js';
import type { Screen } from './terminal.js';
import { tracedCommand } from './traced-command.js';

/** What came of a plan of one directory, or of its apply. */
export interface PlannedDirectory extends DirectoryResult {
  /** The plan, or the plan with its results; unset where there is none. */
  readonly report?: PlanReport;
  /** Why there is no plan. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The result of a run that sends kills alone. */
export function killsDirectory(directory: string, results: KillResults): PlannedDirectory {
  const counted = (wanted: KillResult['status']): number =>
    [...results.values()].filter(({ status }) => status === wanted).length;
  const failed = counted('failed');
  return {
    directory,
    exitCode: failed === 0 ? EXIT.ok : EXIT.notConverged,
    text: `Kills: ${String(counted('killed'))} sent. ${killsText(failed)}.\n`,
    document: () => ({
      formatVersion: 1,
      kills: [...results].map(([id, { status }]) => ({ id, status })),
      // Kills of definitions that do not exist are not missed.
      converged: failed === 0,
    }),
  };
}

/**
 * Plans one directory, as one run in a trace. A `FlagkeelError` is printed on standard error and takes the place of the
 * plan, so that the other directories are planned all the same. Diagnostics of invalid specs are a result.
 */
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
