import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRun, type Surroundings } from '../compose/run.js';
import { mergeBaseWith, openCheckout } from '../git/checkout.js';
import { commitTree } from '../git/trees.js';
import { configuredEnvironments, deedsText, type PlanReport } from '../report/plan-report.js';
import { plan, reconcile } from '../reconcile/reconcile.js';
import { reportOf } from '../reconcile/result.js';
import { openSource } from '../git/spec-source.js';
import { appliedForge, type Asking, type ForgeFlags, type ReviewOptions } from './pull-request.js';
import { EXIT, FlagkeelError, type ExitCode } from '../errors.js';
import type { CommitStatus, ReviewStatus } from '../forge/forge.js';
import { countsOf, verdictIn, type Verdict } from '../model/verdict.js';
import { plural } from '../report/values.js';
import { appliedStatus, statusName } from '../report/view/verdict.js';

export interface ReviewPlanOptions extends Surroundings {
  readonly flags: ReviewOptions;
  readonly since: string;
}

export async function onlinePlan(
  directory: string,
  { flags, since, ...surroundings }: ReviewPlanOptions,
): Promise<PlanReport> {
  // A review is about the content of a change, whatever its time; the report names closed environments.
  const open = { overrideWindow: '' };
  const runFlags = { ...flags, ...open, since, dryRun: true, committedOnly: true };
  await using run = await openRun(directory, runFlags, surroundings);
  run.context.source.warnings.forEach((warning) => {
    surroundings.note(`warning: ${warning}`);
  });
  return reportOf(await plan(run.context), run);
}

/** Without service and key: applies the merge base to an embedded service, and plans HEAD against that. Live values are unknown. */
export async function offlinePlan(
  directory: string,
  { flags, since, ...surroundings }: ReviewPlanOptions,
): Promise<PlanReport> {
  const folder = await mkdtemp(join(tmpdir(), 'flagkeel-review-'));
  try {
    const { settings } = surroundings;
    const apart = {
      ...surroundings,
      settings: { ...settings, stateDir: join(folder, 'state.git') },
    };
    const embedded = { embedded: true, embeddedDir: join(folder, 'service') };
    const base = await partingCommit(directory, since);
    if (base !== null) {
      // Applies everything, even if the plan has a narrower scope.
      const whole = { adopt: true, overrideWindow: '' };
      await applyAt(base, directory, { ...whole, ...embedded }, apart);
    }
    const options = { ...apart, flags: { ...flags, ...embedded }, since };
    return await onlinePlan(directory, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function applyAt(
  commit: string,
  directory: string,
  flags: Parameters<typeof openRun>[1],
  surroundings: Surroundings,
): Promise<void> {
  const open = async () => openSource(directory, { workingTree: false, at: commit });
  await using run = await openRun(directory, flags, { ...surroundings, open, asksNoChecks: true });
  const silent = { progress: {}, note: {}, onKill: () => undefined };
  const { signal } = surroundings;
  const options = { ...silent, openWriter: run.openWriter, now: Date.now, signal };
  const first = await reconcile(run.context, options);
  if ('outcomes' in first) return;
  // The base was reviewed before; guards are for new changes.
  await reconcile(run.context, { ...options, override: { approvedHash: first.planHash } });
}

/** Null if the branch began without specs. */
async function partingCommit(directory: string, since: string): Promise<string | null> {
  const checkout = await openCheckout(directory);
  try {
    const base = await mergeBaseWith(checkout, since);
    const tree = await commitTree(checkout, base);
    return tree.list().length === 0 ? null : base;
  } finally {
    await checkout.close();
  }
}

const NAME = 'flagkeel';

/** With the config directory unless that is the root of the repository. @param environment null for the whole. */
export function statusContext(environment: string | null, prefix: string, name = NAME): string {
  return statusName(name, environment, prefix.replace(/\/$/, ''));
}

export function reviewStatus(
  context: string,
  prefix: string,
  told: { exitCode: ExitCode; report?: PlanReport; offline?: boolean } | undefined,
): ReviewStatus {
  if (!told) return { state: 'error', description: 'the review broke off; run it again' };
  const { report, exitCode, offline } = told;
  if (!report) {
    return exitCode === EXIT.invalidSpecs
      ? { state: 'failure', description: 'the specs are invalid' }
      : { state: 'error', description: 'there is no plan; the comment and the log say why' };
  }
  const refused = (report.guardFindings ?? []).length;
  if (refused > 0) {
    return { state: 'failure', description: `refused by ${plural(refused, 'guard')}` };
  }
  const environment = report.environments.find((each) => statusContext(each, prefix) === context);
  const isHere = (place: string | null): boolean =>
    environment === undefined || place === environment;
  const changes = report.plan.changes.filter(({ ref }) => isHere(ref.environment));
  return {
    state: 'success',
    description:
      (changes.length === 0
        ? 'nothing to write'
        : deedsText(changes, (deed, count) => `${String(count)} to ${deed}`)) +
      (offline === true ? '; made offline, the service was not asked' : ''),
  };
}

const APPLY_NAME = 'flagkeel-apply';

type AppliedReport = Pick<PlanReport, 'verdict' | 'environments' | 'protectedEnvironments'>;

/**
 * Sets one status for the whole and one for each environment on the applied commit. Their name differs from a review's,
 * because after a fast-forward both stand on the same commit. @param report undefined if the run broke off. @throws
 * FlagkeelError `USAGE`, `FORGE`
 */
export async function setApplyStatuses(
  report: AppliedReport | undefined,
  { commit, prefix }: { readonly commit: string | null; readonly prefix: string },
  flags: ForgeFlags,
  asking: Asking,
): Promise<void> {
  if (commit === null) {
    throw new FlagkeelError('USAGE', 'cannot set statuses: what was applied is no commit');
  }
  const { forge, runUrl } = await appliedForge(flags, asking);
  for (const status of applyStatuses(report, prefix)) {
    await forge.setStatus({ commit, runUrl }, status);
  }
}

function applyStatuses(report: AppliedReport | undefined, prefix: string): CommitStatus[] {
  const context = statusContext(null, prefix, APPLY_NAME);
  if (!report) {
    return [{ context, state: 'error', description: 'the apply broke off; its log says why' }];
  }
  const { verdict } = report;
  return [
    { context, ...statusOf(verdict) },
    ...configuredEnvironments(report).map((name) => ({
      context: statusContext(name, prefix, APPLY_NAME),
      ...statusOf(verdictIn(verdict, name)),
    })),
  ];
}

function statusOf(verdict: Verdict): Pick<CommitStatus, 'state' | 'description'> {
  const { whole, objects } = verdict;
  return appliedStatus({ whole, counts: countsOf(verdict) }, objects.values());
}
