import { GitCache } from '../../git/cache.js';
import { commitIn } from '../../git/log.js';
import { type UnsignedCommit, signedLine, type Signers } from '../../git/signatures.js';
import { type Source, openCommit } from '../../git/spec-source.js';
import { killsAdded } from '../../kill/in-git.js';
import type { CommitView } from '../view.js';
import { Clone, type CloneOptions } from '../../git/clone.js';

export interface Seen {
  /** null without git: runs then read the files on disk. */
  readonly commit: CommitView | null;
  /** Fingerprint of the files on disk; null if there are none or they equal the commit. */
  readonly localFiles: string | null;
  /** The newest commit, if no signer signed it: `commit` is then the newest signed one before it, where there is one. */
  readonly unsigned?: UnsignedCommit;
}

/** Where the specs of a source come from: a directory of this machine, or a branch of a git server. */
export interface Upstream {
  readonly kind: 'checkout' | 'remote';
  /** For people, without credentials. */
  readonly location: string;
  /** null for the commit checked out, or the server's HEAD. */
  readonly branch: string | null;
  /** The config directory; sources without git take their name from it. */
  readonly directory: string;
  /** Default for sharing the state with other machines. If not set, the config decides. */
  readonly pushState?: boolean;
  /** @throws FlagkeelError `GIT`, `SPECS_INVALID` if the upstream cannot be read. */
  poll(signal: AbortSignal): Promise<Seen>;
  /** @param commit full hash of a commit seen, or of one of its ancestors; null for the files on disk. */
  open(commit: string | null, memory?: GitCache): Promise<Source>;
  /** Calls `hint` when polling may be worthwhile. Some changes cause none. @returns stops the hints. */
  follow(hint: () => void): () => Promise<void>;
}

export async function describeCommit(upstream: Upstream, commit: string): Promise<CommitView> {
  await using source = await upstream.open(commit);
  return await commitIn(source.checkout, commit);
}

/** Whether the later commit orders a kill that the earlier one does not. */
export async function addsKill(
  upstream: Upstream,
  before: string,
  after: string,
): Promise<boolean> {
  await using source = await upstream.open(after);
  return (await killsAdded(source.checkout, before, after)).length > 0;
}

export class RemoteUpstream implements Upstream {
  readonly location: string;
  readonly branch: string | null;
  readonly directory: string;
  readonly pushState = true;
  readonly #clone: Clone;
  #last: Seen | null = null;
  readonly kind = 'remote';
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

  async open(commit: string | null, memory?: GitCache): Promise<Source> {
    if (commit === null) throw new Error('bug: a clone has no files on disk');
    this.#memory = memory ?? this.#memory;
    return openCommit(await this.#clone.checkout(commit, this.#memory), commit);
  }

  follow(): () => Promise<void> {
    return async () => Promise.resolve();
  }
}

/** A daemon looks this far back for a signed commit, so that one push of many unsigned ones stops nothing. */
const MOST_LOOKED_AT = 200;

/**
 * The upstream as its signers vouch for it: while its newest commit is unsigned, the newest signed one before it is
 * what the daemon enforces. Without any, the newest commit stands, and its run is refused.
 */
export function signedUpstream(upstream: Upstream, signers: Signers): Upstream {
  const { kind, location, branch, directory, pushState } = upstream;
  const vouched = async (seen: Seen): Promise<Seen> => {
    if (seen.commit === null) return seen;
    await using source = await upstream.open(seen.commit.commit);
    const head = seen.commit.commit;
    const { signed, unsigned } = await signedLine(source.checkout, head, signers, MOST_LOOKED_AT);
    if (unsigned === null) return seen;
    const commit = signed === null ? seen.commit : await commitIn(source.checkout, signed);
    return { ...seen, commit, unsigned };
  };
  let last: { readonly of: Seen; readonly seen: Seen } | null = null;
  return {
    kind,
    location,
    branch,
    directory,
    ...(pushState !== undefined && { pushState }),
    poll: async (signal) => {
      const of = await upstream.poll(signal);
      // An unsigned commit is checked at each poll, because the operator may have named another signer meanwhile.
      const isKnown = last?.of === of && last.seen.unsigned === undefined;
      if (!isKnown || last === null) last = { of, seen: await vouched(of) };
      return last.seen;
    },
    open: async (commit, memory) => upstream.open(commit, memory),
    follow: (hint) => upstream.follow(hint),
  };
}
