import type { Checkout } from '../git/checkout.js';
import { parseCommit, readLog, type CommitText } from '../git/log.js';
import type { Plan, Withheld } from '../model/plan.js';

/** Names the pull request that brought a change no review showed, if the branch names it. @throws FlagkeelError `GIT` */
export async function withPullRequests(
  { repository }: Checkout,
  head: string | null,
  plan: Plan,
): Promise<Plan> {
  const files = new Set(plan.withheld.flatMap((each) => fileOf(each) ?? []));
  if (repository === null || head === null || files.size === 0) return plan;
  const log = await readLog(repository, null, head, 'first-parents');
  // From the oldest on, so that the newest commit of each file stays.
  const newest = new Map(
    log.toReversed().flatMap(({ id, paths }) => paths.map((path) => [path, id])),
  );
  const brought = new Map<string, string>();
  for (const file of files) {
    const id = newest.get(file) ?? '';
    const commit = id === '' ? null : await repository.objects.read(id);
    const name = commit && pullRequestIn(parseCommit(id, commit));
    if (name !== null) brought.set(file, name);
  }
  const withheld = plan.withheld.map((each) => {
    const name = brought.get(fileOf(each) ?? '');
    return name === undefined ? each : { ...each, because: `${name} should have shown it` };
  });
  return { ...plan, withheld };
}

function fileOf({ why, location }: Withheld): string | undefined {
  return why === 'not-reviewed' ? location?.file : undefined;
}

/** The words that GitHub and GitLab write into the commits that they make; null if there are none. */
function pullRequestIn({ subject, body }: CommitText): string | null {
  const pull = /^Merge pull request #(\d+) /.exec(subject) ?? /\(#(\d+)\)$/.exec(subject);
  if (pull) return `pull request #${pull[1] ?? ''}`;
  const merge = /^See merge request \S*!(\d+)$/m.exec(body);
  return merge ? `merge request !${merge[1] ?? ''}` : null;
}
