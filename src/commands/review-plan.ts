import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRun, type Surroundings } from '../compose/open-run.js';
import { mergeBase, openCheckout, resolveRevision } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { PlanReport } from '../report/plan-report.js';
import { plan, reconcile } from '../reconcile.js';
import { reportOf } from '../stages/reporting.js';
import { openSource } from '../stages/source.js';
import type { ReviewFlags } from './options.js';

export interface ReviewPlanOptions extends Surroundings {
  readonly flags: ReviewFlags;
  /** The revision that the plan starts from. */
  readonly since: string | undefined;
}

/** The plan of HEAD for what differs from `since`; writes nothing to the service. */
export async function onlinePlan(
  directory: string,
  { flags, since, ...surroundings }: ReviewPlanOptions,
): Promise<PlanReport> {
  const asked = { ...flags, ...(since !== undefined && { since }) };
  const runFlags = { ...asked, dryRun: true, committedOnly: true, lockTimeout: 0 };
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
  const folder = await mkdtemp(join(tmpdir(), 'flaghoist-review-'));
  try {
    const { settings } = surroundings;
    const apart = {
      ...surroundings,
      settings: { ...settings, stateDir: join(folder, 'state.git') },
    };
    const embedded = { embedded: true, embeddedDir: join(folder, 'service') };
    const base = since === undefined ? null : await partingCommit(directory, since);
    if (base !== null) {
      // All of it, whatever the plan is narrowed to.
      const whole = { environment: [], only: [], adopt: true, lockTimeout: 0 };
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
  await using run = await openRun(directory, flags, { ...surroundings, open });
  const options = {
    openWriter: run.openWriter,
    now: Date.now,
    signal: surroundings.signal,
    progress: {},
    words: {},
    onKill: () => undefined,
  };
  const first = await reconcile(run.context, options);
  if ('outcomes' in first) return;
  // What stands there was reviewed before; guards are for what is new.
  await reconcile(run.context, { ...options, passing: { approvedHash: first.planHash } });
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
