import { runGit } from '../git/git.js';
import type { Checkout, Repository } from '../git/checkout.js';
import { cleanLine } from '../model/audit-note.js';
import { canonicalJson } from '../model/json.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredDefinition } from '../model/desired.js';
import { isKillOrdered } from '../plan/kills/orders.js';
import type { SpecHistory } from './spec-history.js';

/** The definition of a flag in an environment, whose ramps are asked about. */
export interface RampedDefinition {
  readonly flag: string;
  /** As the service has it. */
  readonly environment: string;
  readonly definition: DesiredDefinition;
}

/** When the ramps of a definition began. */
export interface RampStart {
  readonly ms: number;
  /** The commit that began them: `9d41c0f2 Ana: Ramp the shop`. Null: they are not committed yet. */
  readonly by: string | null;
}

/** Commits of the branch that touched the files of a definition, at most; what is older began at the oldest of them. */
const MAX_COMMITS = 200;

/**
 * The time of the commit that brought the ramps of a definition to the branch as they are: the newest one among the first parents
 * of HEAD that changed their steps, took `hold` away, or took a kill of the definition back. So a ramp begins with the
 * merge and not with the work before it, and goes on from where it stands once it was stopped.
 *
 * @param nowMs begins what is not committed, and what the review at hand is about.
 * @returns null: nobody can tell.
 * @throws FlagkeelError `GIT`
 */
export async function rampStart(
  { checkout, head, history }: { checkout: Checkout; head: string | null; history: SpecHistory },
  of: RampedDefinition & { readonly desired: BoundDesired },
  nowMs: number,
): Promise<RampStart | null> {
  const { repository } = checkout;
  const form = formIn(of.desired, of);
  if (head === null || repository === null) return null;
  const committed = await history.atAncestor(head);
  if (!committed) return null;
  if (formIn(committed, of) !== form) return { ms: nowMs, by: null };
  const commits = await firstParents(repository, head, pathsOf(of));
  for (const commit of commits) {
    const { parent } = commit;
    const before = parent === null ? undefined : await history.atAncestor(parent);
    // What cannot be known did not say the same: the later beginning is the safer one.
    if (!before || formIn(before, of) !== form) return startOf(commit);
  }
  const oldest = commits.at(-1);
  return oldest ? startOf(oldest) : null;
}

/** What has to stay the same for ramps to go on. */
function formIn(desired: BoundDesired, { flag, environment }: RampedDefinition): string {
  const ramps = desired.flags.get(flag)?.environments.get(environment)?.ramps ?? [];
  const isKilled = isKillOrdered(desired, flag, environment);
  // What is asked before a step changes no step.
  return canonicalJson({ isKilled, ramps: ramps.map(({ checks, ...ramp }) => ramp) });
}

function pathsOf({ environment, flag, definition }: RampedDefinition): readonly string[] {
  return [definition.location.file, `flags/${flag}.yaml`, `kills/${environment}.yaml`];
}

interface BranchCommit {
  readonly id: string;
  readonly parent: string | null;
  readonly ms: number;
  readonly author: string;
  readonly subject: string;
}

function startOf({ id, ms, author, subject }: BranchCommit): RampStart {
  return { ms, by: `${id.slice(0, 8)} ${cleanLine(author)}: ${cleanLine(subject)}` };
}

/** Commits on the line of first parents that touched one of the files, newest first. */
async function firstParents(
  { git, prefix }: Repository,
  head: string,
  paths: readonly string[],
): Promise<readonly BranchCommit[]> {
  const answer = await runGit(git, {
    args: [
      '--literal-pathspecs',
      'log',
      '-z',
      '--first-parent',
      `--max-count=${String(MAX_COMMITS)}`,
      '--no-show-signature',
      '--format=tformat:%H%n%P%n%ct%n%an%n%s',
      '--end-of-options',
      head,
      '--',
      ...new Set(paths.map((path) => prefix + path)),
    ],
    purpose: 'read when ramps began',
  });
  return answer.split('\0').flatMap((text): BranchCommit[] => {
    const [id = '', parents = '', seconds = '', author = '', subject = ''] = text.split('\n');
    if (!/^[0-9a-f]{40,64}$/.test(id)) return [];
    const parent = parents.split(' ')[0] ?? '';
    return [
      { id, parent: parent === '' ? null : parent, ms: Number(seconds) * 1_000, author, subject },
    ];
  });
}
