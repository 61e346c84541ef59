import { Clone, type CloneOptions } from '../../git/clone.js';
import { GitCache } from '../../git/cache.js';
import { commitIn } from '../../git/log.js';
import { addsKill } from '../../kill/in-git.js';
import { openCommit, type Source } from '../../git/spec-source.js';
import type { Checkout } from '../../git/checkout.js';
import type { CommitView } from '../view.js';
import type { Seen, Upstream } from './upstream.js';

/** A branch on a git server, read through our own clone. */
export class RemoteUpstream implements Upstream {
  readonly location: string;
  readonly branch: string | null;
  readonly directory: string;
  readonly pushState = true;
  readonly #clone: Clone;
  #last: Seen | null = null;
  readonly kind = 'remote';
  /** Shared with the runs: the run after a poll reads what that poll has listed. */
  #memory = new GitCache();

  /** @throws FlagkeelError `USAGE` if branch or path are invalid. */
  constructor(options: CloneOptions) {
    const { remote, branch, path, directory } = options;
    this.location = path === '' ? remote.url : `${remote.url} (${path})`;
    this.branch = branch;
    this.directory = directory;
    this.#clone = new Clone(options);
  }

  async poll(signal: AbortSignal): Promise<Seen> {
    const commit = await this.#clone.fetch(signal);
    if (this.#last?.commit?.commit !== commit.commit) this.#last = { commit, localFiles: null };
    return this.#last;
  }

  async describe(commit: string): Promise<CommitView> {
    return this.#with(commit, async (checkout) => commitIn(checkout, commit));
  }

  async open(commit: string | null, memory?: GitCache): Promise<Source> {
    if (commit === null) throw new Error('bug: a clone has no files on disk');
    this.#memory = memory ?? this.#memory;
    return openCommit(await this.#clone.checkout(commit, memory), commit);
  }

  async addsKill(before: string, after: string): Promise<boolean> {
    return this.#with(after, async (checkout) => addsKill(checkout, before, after));
  }

  /** A git server sends no hints: only fetching finds changes. */
  follow(): () => Promise<void> {
    return async () => Promise.resolve();
  }

  async #with<T>(commit: string, use: (checkout: Checkout) => Promise<T>): Promise<T> {
    const checkout = await this.#clone.checkout(commit, this.#memory);
    try {
      return await use(checkout);
    } finally {
      await checkout.close();
    }
  }
}
