import type { GitCache } from '../../git/cache.js';
import { commitIn } from '../../git/log.js';
import type { UnsignedCommit } from '../../git/signatures.js';
import type { Source } from '../../git/spec-source.js';
import { killsAdded } from '../../kill/in-git.js';
import type { CommitView } from '../view.js';

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
  describe(commit: string): Promise<CommitView>;
  /** Whether the later commit orders a kill that the earlier one does not. */
  addsKill(before: string, after: string): Promise<boolean>;
  /** Calls `hint` when polling may be worthwhile. Some changes cause none. @returns stops the hints. */
  follow(hint: () => void): () => Promise<void>;
}

export abstract class OpenedCommits {
  abstract open(commit: string | null, memory?: GitCache): Promise<Source>;

  async describe(commit: string): Promise<CommitView> {
    await using source = await this.open(commit);
    return await commitIn(source.checkout, commit);
  }

  async addsKill(before: string, after: string): Promise<boolean> {
    await using source = await this.open(after);
    return (await killsAdded(source.checkout, before, after)).size > 0;
  }
}
