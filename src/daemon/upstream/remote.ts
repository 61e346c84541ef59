import { Clone, type CloneOptions } from '../../git/clone.js';
import { GitCache } from '../../git/cache.js';
import { openCommit, type Source } from '../../git/spec-source.js';
import { OpenedCommits, type Seen, type Upstream } from './upstream.js';

/** A branch on a git server, read through our own clone. */
export class RemoteUpstream extends OpenedCommits implements Upstream {
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
    super();
    const { remote, branch, path, directory } = options;
    this.location = path === '' ? remote.url : `${remote.url} (${path})`;
    this.branch = branch;
    this.directory = directory;
    this.#clone = new Clone(options);
  }

  /** @throws FlagkeelError `GIT`, `SPECS_INVALID` if the upstream cannot be read. */
  async poll(signal: AbortSignal): Promise<Seen> {
    const commit = await this.#clone.fetch(signal);
    if (this.#last?.commit?.commit !== commit.commit) this.#last = { commit, localFiles: null };
    return this.#last;
  }

  async open(commit: string | null, memory?: GitCache): Promise<Source> {
    if (commit === null) throw new Error('bug: a clone has no files on disk');
    this.#memory = memory ?? this.#memory;
    return openCommit(await this.#clone.checkout(commit, this.#memory), commit);
  }

  /** A git server sends no hints: only fetching finds changes. */
  follow(): () => Promise<void> {
    return async () => Promise.resolve();
  }
}
