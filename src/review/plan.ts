import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRun, type Surroundings } from '../compose/run.js';
import { mergeBase, openCheckout, resolveRevision } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import { deedsText, type PlanReport } from '../report/plan-report.js';
import { plan, reconcile } from '../reconcile/reconcile.js';
import { reportOf } from '../reconcile/result.js';
import { openSource } from '../git/spec-source.js';
import type { ReviewOptions } from './pull-request.js';
import { EXIT, type ExitCode } from '../errors.js';
import type { ReviewStatus } from '../forge/statuses.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';

export interface ReviewPlanOptions extends Surroundings {
  readonly flags: ReviewOptions;
  /** The revision that the plan starts from. */
  readonly since: string;
}

/** The plan of HEAD for what differs from `since`; writes nothing to the service. */
export async function onlinePlan(
  directory: string,
  { flags, since, ...surroundings }: ReviewPlanOptions,
): Promise<PlanReport> {
  // A review is about what changes, whenever it may go; the report says which environments are closed.
  const open = { overrideWindow: '' };
  const runFlags = { ...flags, ...open, since, dryRun: true, committedOnly: true, lockTimeout: 0 };
  await using run = await openRun(directory, runFlags, surroundings);
  run.context.source.warnings.forEach((warning) => {
    surroundings.note(`warning: ${warning}`);
  });
  return reportOf(await plan(run.context), run);
}

/**
 * The same without the service and without a key: the specs of the commit where the branch parted are applied to an
 * embedded service of this moment, and the plan is made against that. What is live elsewhere is not known.
 */
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
      // All of it, whatever the plan is narrowed to.
      const whole = { environment: [], only: [], adopt: true, lockTimeout: 0, overrideWindow: '' };
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
  const options = {
    openWriter: run.openWriter,
    now: Date.now,
    signal: surroundings.signal,
    progress: {},
    note: {},
    onKill: () => undefined,
  };
  const first = await reconcile(run.context, options);
  if ('outcomes' in first) return;
  // What stands there was reviewed before; guards are for what is new.
  await reconcile(run.context, { ...options, override: { approvedHash: first.planHash } });
}

/** Null: there were no specs yet. */
async function partingCommit(directory: string, since: string): Promise<string | null> {
  const checkout = await openCheckout(directory);
  try {
    const revision = await resolveRevision(checkout, since);
    const { head, repository } = checkout;
    const parted =
      repository && head !== null ? await mergeBase(repository.git, revision, head) : null;
    const tree = await commitTree(checkout, parted ?? revision);
    return tree.list().length === 0 ? null : (parted ?? revision);
  } finally {
    await checkout.close();
  }
}

/** Stands in the place of an environment for the status of the whole. */
export const OVERALL = '';

const NAME = 'flagkeel';

/** `flagkeel/production`, with the config directory where that is not the top of the repository. */
export function statusContext(environment: string, prefix: string): string {
  const where = prefix === '' ? '' : ` (${clean(prefix.replace(/\/$/, ''))})`;
  return `${NAME}${environment === OVERALL ? '' : `/${clean(environment)}`}${where}`;
}

interface ToldOf {
  readonly exitCode: ExitCode;
  readonly report?: PlanReport;
  readonly offline?: boolean;
}

/** What one status says in the end. Without anything told the run broke off, and that is no success. */
export function reviewStatus(
  context: string,
  prefix: string,
  told: ToldOf | undefined,
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
