import { openRun, type Run, type RunFlags } from '../../compose/run.js';
import { EXIT, FlagkeelError, messageOf, type ExitCode } from '../../errors.js';
import { pendingWithheld } from '../../plan/plan.js';
import { planMarkdown } from '../../report/markdown/plan.js';
import { planDocument } from '../../report/json/plan.js';
import { killLine, planSummary, planText } from '../../report/text/plan.js';
import type { PlanReport } from '../../report/plan-report.js';
import type { ApplyOptions } from '../../reconcile/apply.js';
import { filterOptionsOf } from '../../model/remedy.js';
import { sendKillsAlone } from '../../reconcile/load.js';
import { plan, reconcile } from '../../reconcile/reconcile.js';
import { PlanDiffersError, refuseUnreviewed } from '../../reconcile/assess.js';
import { exitCodeOf, reportOf } from '../../reconcile/result.js';
import type { Applied, Planned } from '../../reconcile/context.js';
import { combinedResult, forEachDirectory, configDirectoryOf } from '../directories.js';
import { killsDirectory, plannedOrRefused, type PlannedDirectory } from '../traced-command.js';
import { setApplyStatuses } from '../../review/plan.js';
import { clean, quoted } from '../../report/sanitize.js';
import type { DeclareCommand } from '../command.js';
import {
  commonOptions,
  givenNote,
  lockOption,
  selectionOptions,
  serviceOptions,
} from '../options.js';
import {
  approvalOptions,
  applyingOptions,
  planOptions,
  type ReconcileOptions,
  readGivenApprovals,
  readShown,
} from '../reconcile-options.js';
import { openEventSink, RunEvents } from '../run-events.js';
import { askToForce, ending, type Screen } from '../terminal.js';

/** Declares `reconcile`, and `plan`, which is its dry run under the name that other tools have for it. */
export const declareReconcile: DeclareCommand = (command, invocation) => {
  const isPlan = command.name() === 'plan';
  command
    .argument('[directory...]', 'config repositories, or folders of them', ['.'])
    .option('--dry-run', 'plan only: what would change, and why')
    .option('--detailed-exitcode', 'with --dry-run: exit 2 when there are changes');
  planOptions(command);
  if (!isPlan) applyingOptions(command);
  approvalOptions(command);
  commonOptions(selectionOptions(serviceOptions(lockOption(command))), [
    'text',
    'json',
    'markdown',
  ]).action(
    ending(async (directories: string[], options: ReconcileOptions, screen: Screen) => {
      const dryRun = isPlan || options.dryRun === true;
      return reconcileAll(directories, { ...options, dryRun }, screen);
    }, invocation),
  );
};

async function reconcileAll(
  directories: readonly string[],
  options: ReconcileOptions,
  screen: Screen,
): Promise<ExitCode> {
  const writes = options.dryRun !== true;
  if (options.detailedExitcode === true && writes) {
    throw usage(
      '--detailed-exitcode without --dry-run: it tells of a plan, and this run would apply it (add --dry-run)',
    );
  }
  if (options.at !== undefined && writes) {
    throw usage('--at without --dry-run: what is written is written now (add --dry-run)');
  }
  if (options.overrideWindow?.trim() === '') throw usage('--override-window without a reason');
  screen.noteInterrupt();
  const name = writes ? 'reconcile' : 'plan';
  const shown = await readShown(options, directories);
  const { note, terminal } = screen;
  const approvals = await readGivenApprovals(options, terminal, note);
  await using sink = await openEventSink(options.events, { stdout: terminal.stdout, note });
  const { format } = options;
  return await forEachDirectory(
    directories,
    async (directory, index) => {
      const events = sink && new RunEvents(sink, directory);
      events?.started({ dryRun: !writes });
      const passes = { approvals, shown: shown?.[index] };
      const result = await plannedOrRefused({ name, directory, writes, format }, screen, async () =>
        runDirectory(directory, passes, { options, screen, events }),
      );
      events?.over(result.exitCode, result.error);
      return result;
    },
    async (results) => {
      // Every line of standard output is an event then.
      if (options.events === '-' && options.output === undefined) return;
      await screen.result(combinedResult(results, format));
    },
  );
}

function usage(what: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use ${what}`);
}

async function runDirectory(
  directory: string,
  passes: Pick<RunFlags, 'approvals' | 'shown'>,
  around: Omit<Reporting, 'run'>,
): Promise<PlannedDirectory> {
  const { options, screen, events } = around;
  const root = await repositoryOf(directory, options, screen);
  const counted = options.countKeys ? 'counted' : undefined;
  const keys = options.everyKey ? 'listed' : counted;
  const touchedSince = options.touched ? 'state' : undefined;
  await using run = await openRun(
    root,
    { ...options, keys, touchedSince, ...passes },
    screen.surroundings(),
  );
  for (const warning of run.context.source.warnings) screen.note(`warning: ${warning}`);
  const reporting = { ...around, run };
  const endEvents = events && screen.progress.add({ kind: 'facts', tell: events.progress });
  let report: PlanReport | undefined;
  try {
    if (options.kills === true) {
      const results = await sendKillsAlone(run.context, applyOptions(reporting));
      const { environments } = run.context.options;
      const filters = [...environments, ...filterOptionsOf(run.context.options)];
      return killsDirectory(directory, results, filters);
    }
    const result = await planOrApply(reporting).finally(() => {
      screen.progress.end();
    });
    report = reportOf(result, run);
    return reported(directory, result, { ...reporting, report });
  } catch (error) {
    if (!(error instanceof PlanDiffersError)) throw error;
    screen.failure(error);
    report = reportOf(error.planned, run);
    const refused = reported(directory, error.planned, { ...reporting, report });
    return { ...refused, exitCode: error.exitCode };
  } finally {
    if (options.commitStatuses === true) await tellForge(report, reporting);
    endEvents?.();
  }
}

/** Writes are done by now, so that a forge that refuses a status is only a warning. */
async function tellForge(
  report: PlanReport | undefined,
  { run, options, screen }: Omit<Reporting, 'events'>,
): Promise<void> {
  const { checkout, revision } = run.context.source;
  const applied = { commit: revision.commit, prefix: checkout.repository?.prefix ?? '' };
  await setApplyStatuses(report, applied, options, screen.terminal).catch((error: unknown) => {
    screen.note(`warning: ${clean(messageOf(error))}`);
  });
  screen.progress.end();
}

/** The config repository that a path means. Warns if it is more than was named; an apply of one file is refused. */
async function repositoryOf(
  path: string,
  { dryRun }: ReconcileOptions,
  screen: Screen,
): Promise<string> {
  const { directory, within, isFile } = await configDirectoryOf(path);
  if (within === null) return directory;
  if (isFile && dryRun !== true) {
    const wayOut = `name its repository, ${quoted(directory)}, and --only KIND/NAME`;
    throw new FlagkeelError('USAGE', `cannot apply ${quoted(within)} by itself: ${wayOut}`);
  }
  const part = `${quoted(within)} is a part of ${quoted(directory)}`;
  screen.note(`warning: ${part}, which is planned as a whole (--only KIND/NAME for one object)`);
  return directory;
}

async function planOrApply(reporting: Reporting): Promise<Planned | Applied> {
  const { run, options, events } = reporting;
  const reviewed = options.planHash;
  const onPlanned = (planned: Planned): void => events?.planned(reportOf(planned, run));
  if (options.dryRun !== true) {
    return reconcile(run.context, { ...applyOptions(reporting), reviewed, onPlanned });
  }
  const planned = await plan(run.context);
  onPlanned(planned);
  refuseUnreviewed(planned, reviewed);
  return planned;
}

function applyOptions({ run, options, screen, events }: Reporting): ApplyOptions {
  const ask = async (planned: Planned): Promise<boolean> => {
    screen.progress.end();
    const { width } = screen;
    const shown = { color: false, width, showKeys: false, verbose: true };
    return askToForce(planText(reportOf(planned, run), shown), screen);
  };
  return {
    openWriter: run.openWriter,
    now: Date.now,
    signal: screen.terminal.signal,
    progress: {
      onStep: (step, note) => events?.sent(step, note),
      onEnd: (step, end) => events?.ended(step, end),
    },
    note: givenNote(options),
    override: { ask: options.force === true ? ask : undefined },
    onKill: (id, result) => {
      screen.note(killLine(id, result));
      events?.killed(id, result);
    },
  };
}

interface Reporting {
  readonly run: Run;
  readonly options: ReconcileOptions;
  readonly screen: Screen;
  readonly events: RunEvents | undefined;
}

/** Says on standard error, in every format, what was not remembered. */
function reported(
  directory: string,
  result: Planned | Applied,
  { report, options, screen, events }: Omit<Reporting, 'run'> & { report: PlanReport },
): PlannedDirectory {
  const { signal, stderr } = screen.terminal;
  events?.verified(report);
  for (const { message } of result.unknowns) screen.note(`warning: ${message}`);
  const textOf = options.quiet === true ? planSummary : planText;
  const text = options.format === 'markdown' ? planMarkdown(report) : textOf(report, screen);
  const unverified = 'unverified' in result ? `Not verified: ${result.unverified}\n` : '';
  const unsaved = 'unsaved' in result ? `Not remembered: ${result.unsaved}\n` : '';
  if (unsaved !== '') stderr.write(`flagkeel: ${unsaved}`);
  return {
    directory,
    exitCode: detailed(result, options, signal) ?? exitCodeOf(result, signal, options),
    text: text + unverified + unsaved,
    report,
    document: () => planDocument(report, screen),
  };
}

function detailed(
  result: Planned | Applied,
  { detailedExitcode }: ReconcileOptions,
  signal: AbortSignal,
): ExitCode | undefined {
  if (detailedExitcode !== true || 'outcomes' in result) return undefined;
  if (signal.aborted || result.guardFindings.length > 0) return undefined;
  const differs = result.plan.changes.length + pendingWithheld(result.plan).length > 0;
  return differs ? EXIT.changes : undefined;
}
