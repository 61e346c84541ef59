import type { Checkout } from '../git/checkout.js';
import { runGit } from '../git/git.js';
import type { Plan, Withheld } from '../model/plan.js';

/** Each file costs one look into history. */
const MOST_FILES = 20;

/** Names the pull request that brought a change no review showed, if the branch names it. @throws FlagkeelError `GIT` */
export async function withPullRequests(
  { repository }: Checkout,
  head: string | null,
  plan: Plan,
): Promise<Plan> {
  const files = new Set(plan.withheld.flatMap((each) => fileOf(each) ?? []));
  if (repository === null || head === null || files.size === 0) return plan;
  const brought = new Map<string, string>();
  for (const file of [...files].slice(0, MOST_FILES)) {
    const message = await runGit(repository.git, {
      args: [
        ...['--literal-pathspecs', 'log', '--first-parent', '--max-count=1', '--format=%s%n%b'],
        ...['--no-show-signature', '--no-color', '--end-of-options', head],
        ...['--', repository.prefix + file],
      ],
      purpose: `read who changed ${file}`,
    });
    const name = pullRequestIn(message);
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
function pullRequestIn(message: string): string | null {
  const [subject = ''] = message.split('\n');
  const pull = /^Merge pull request #(\d+) /.exec(subject) ?? /\(#(\d+)\)$/.exec(subject);
  if (pull) return `pull request #${pull[1] ?? ''}`;
  const merge = /^See merge request \S*!(\d+)$/m.exec(message);
  return merge ? `merge request !${merge[1] ?? ''}` : null;
}
