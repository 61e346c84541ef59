import type { GitCache } from '../../git/cache.js';
import type { Source } from '../../git/spec-source.js';
import type { CommitView } from '../view.js';

/** What an upstream was seen to hold. */
export interface Seen {
  /** Null: there is no git, and the files are read as they lie on disk. */
  readonly commit: CommitView | null;
  /** Another one where files on disk changed; null where there are none, or they are those of the commit. */
  readonly localFiles: string | null;
}

/** Where the specs of a source come from: a directory of this machine, or a branch of a git server. */
export interface Upstream {
  /** For people; without credentials. */
  readonly location: string;
  /** Null: what is checked out, or the server's HEAD. */
  readonly branch: string | null;
  /** The config directory, for what is named after it where there is no git. */
  readonly directory: string;
  /** Shared with other machines by default; absent: where the config says so. */
  readonly pushState?: boolean;
  /**
   * Looks how things stand now.
   *
   * @param signal gives up what may take long.
   * @throws FlagkeelError `GIT`, `SPECS_INVALID` it cannot be seen.
   */
  poll(signal: AbortSignal): Promise<Seen>;
  /**
   * What a run reads. To be disposed of.
   *
   * @param commit full hash of one that was seen, or comes before one; null: the files on disk.
   * @param memory of what git said in earlier runs.
   */
  open(commit: string | null, memory?: GitCache): Promise<Source>;
  /** @param commit full hash of one that was seen, or comes before one. */
  describe(commit: string): Promise<CommitView>;
  /** Whether a commit orders a kill that the one before does not. */
  addsKill(before: string, after: string): Promise<boolean>;
  /**
   * Says when it may be worth to look. A hint: some changes are missed, and some hints are for nothing.
   *
   * @returns how to stop that.
   */
  follow(hint: () => void): () => Promise<void>;
}
