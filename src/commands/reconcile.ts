import { openRun, type Run } from '../compose/open-run.js';
import { operatorSettings } from '../config.js';
import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import { pendingWithheld } from '../plan/plan.js';
import { diagnosticsText } from '../report/diagnostics-text.js';
import { failureMarkdown } from '../report/markdown/failure-markdown.js';
import { planMarkdown } from '../report/markdown/plan-markdown.js';
import { planDocument, type PlanDocument } from '../report/plan-json.js';
import { planText } from '../report/plan-text.js';
import type { ReviewedPlan } from '../report/reviewed-plan.js';
import { errorText } from '../report/run-error.js';
import { plan, reconcile, type ApplyOptions } from '../reconcile.js';
import { PlanDiffersError, refuseUnreviewed } from '../stages/reviewing.js';
import { exitCodeOf, exitCodeOfSignal, reportOf } from '../stages/reporting.js';
import { InvalidSpecsError, type Applied, type Planned } from '../stages/run.js';
import { combinedExitCode } from './exit-code.js';
import { askToForce } from './force.js';
import type { ReconcileFlags, Terminal } from './options.js';
import { killLine } from './kill-line.js';
import { readReviewed } from './reviewed.js';
import { openScreen, type Screen } from './screen.js';

/** Plans config repositories, and unless it is a dry run applies and verifies the plans. */
export async function runReconcile(
  directories: readonly string[],
  flags: ReconcileFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  screen.noteInterrupt();
  const results: DirectoryResult[] = [];
  const reviewed = await readReviewed(flags, directories);
  for (const [index, directory] of directories.entries()) {
    // One after the other: they may share a service, a credential and a state.
    results.push(
      await runDirectory(directory, flags, { terminal, screen, reviewed: reviewed?.[index] }),
    );
  }
  if (flags.format === 'json') await printJson(results, screen);
  else await printText(results, screen);
  return combinedExitCode(results.map(({ exitCode }) => exitCode));
}

interface DirectoryResult {
  readonly directory: string;
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly document: PlanDocument | ErrorDocument;
}

/** What stands in the place of a plan where there is none. */
interface ErrorDocument {
  readonly formatVersion: 1;
  readonly error: { readonly code: string; readonly message: string };
  readonly diagnostics?: readonly unknown[];
}

async function runDirectory(
  directory: string,
  flags: ReconcileFlags,
  {
    terminal,
    screen,
    reviewed,
  }: { terminal: Terminal; screen: Screen; reviewed: ReviewedPlan | undefined },
): Promise<DirectoryResult> {
  try {
    const settings = operatorSettings(terminal.environment);
    await using run = await openRun(directory, flags, {
      settings,
      signal: terminal.signal,
      note: (text) => {
        screen.note(text);
      },
      progress: screen.progress,
    });
    run.context.source.warnings.forEach((warning) => {
      screen.note(`warning: ${warning}`);
    });
    const reporting = { run, flags, terminal, screen };
    try {
      const result = await planOrApply(run, reporting, reviewed).finally(() => {
        screen.progress?.end();
      });
      return reported(directory, result, reporting);
    } catch (error) {
      if (!(error instanceof PlanDiffersError)) throw error;
      terminal.stderr.write(errorText(error));
      return { ...reported(directory, error.planned, reporting), exitCode: error.exitCode };
    }
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return refused(directory, error, { flags, screen, terminal });
  }
}

/** @throws PlanDiffersError in a dry run too: it says whether the review still holds. */
async function planOrApply(
  run: Run,
  { flags, terminal, screen }: Pick<Reporting, 'flags' | 'terminal' | 'screen'>,
  reviewed: ReviewedPlan | undefined,
): Promise<Planned | Applied> {
  if (flags.dryRun !== true) {
    const options = applyOptions(run, flags, { terminal, screen });
    const onKill: ApplyOptions['onKill'] = (id, result) => {
      screen.note(killLine(id, result));
    };
    return reconcile(run.context, { ...options, reviewed, onKill });
  }
  const planned = await plan(run.context);
  refuseUnreviewed(planned, reviewed);
  return planned;
}

function applyOptions(
  run: Run,
  flags: ReconcileFlags,
  { terminal, screen }: Pick<Reporting, 'terminal' | 'screen'>,
): Omit<ApplyOptions, 'reviewed' | 'onKill'> {
  const { title, comment, approve, force } = flags;
  const ask = async (planned: Planned): Promise<boolean> => {
    screen.progress?.end();
    return askToForce(reportOf(planned, run), terminal, screen);
  };
  return {
    openWriter: run.openWriter,
    now: Date.now,
    signal: terminal.signal,
    progress: {
      onStep: (_, done, total) => screen.progress?.count(done, total),
    },
    words: { ...(title !== undefined && { title }), ...(comment !== undefined && { comment }) },
    passing: { approvedHash: approve, ask: force === true ? ask : undefined },
  };
}

interface Reporting {
  readonly run: Run;
  readonly flags: ReconcileFlags;
  readonly terminal: Terminal;
  readonly screen: Screen;
}

function reported(
  directory: string,
  result: Planned | Applied,
  { run, flags, terminal, screen }: Reporting,
): DirectoryResult {
  const report = reportOf(result, run);
  result.unknowns.forEach(({ message }) => {
    screen.note(`warning: ${message}`);
  });
  const showKeys = flags.showKeys === true;
  const text =
    flags.format === 'markdown'
      ? planMarkdown(report)
      : planText(report, { color: screen.color, width: screen.width, showKeys });
  const unverified = 'unverified' in result ? `Not verified: ${result.unverified}\n` : '';
  const unremembered = 'unremembered' in result ? `Not remembered: ${result.unremembered}\n` : '';
  if (unremembered !== '') terminal.stderr.write(`flaghoist: ${unremembered}`);
  return {
    directory,
    exitCode: detailed(result, flags, terminal) ?? exitCodeOf(result, terminal.signal),
    text: text + unverified + unremembered,
    document: planDocument(report, { showKeys }),
  };
}

/** With `--detailed-exitcode`, of a dry run that is to say whether there is anything to do. */
function detailed(
  result: Planned | Applied,
  { detailedExitcode }: ReconcileFlags,
  { signal }: Terminal,
): ExitCode | undefined {
  if (detailedExitcode !== true || 'outcomes' in result) return undefined;
  if (signal.aborted || result.guardFindings.length > 0) return undefined;
  const differs = result.plan.changes.length + pendingWithheld(result.plan).length > 0;
  return differs ? EXIT.changes : undefined;
}

/** Diagnostics are a result; why the run came to nothing is said on standard error, in every format. */
function refused(
  directory: string,
  error: FlaghoistError,
  { flags, screen, terminal }: Pick<Reporting, 'flags' | 'screen' | 'terminal'>,
): DirectoryResult {
  terminal.stderr.write(errorText(error));
  const diagnostics = error instanceof InvalidSpecsError ? error.diagnostics : undefined;
  const found =
    diagnostics === undefined ? '' : diagnosticsText(diagnostics, { color: screen.color });
  return {
    directory,
    exitCode: terminal.signal.aborted ? exitCodeOfSignal(terminal.signal) : error.exitCode,
    text: flags.format === 'markdown' ? failureMarkdown(error.message, diagnostics) : found,
    document: {
      formatVersion: 1,
      error: { code: error.code, message: error.message },
      ...(diagnostics && { diagnostics }),
    },
  };
}

async function printText(results: readonly DirectoryResult[], screen: Screen): Promise<void> {
  const parts = results.map(({ directory, text }) =>
    results.length > 1 ? `${directory}:\n${text}` : text,
  );
  await screen.result(parts.join('\n'));
}

async function printJson(results: readonly DirectoryResult[], screen: Screen): Promise<void> {
  const documents = results.map(({ document }) => document);
  await screen.result(
    `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`,
  );
}
