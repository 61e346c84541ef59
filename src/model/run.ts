import type { ErrorCode } from '../errors.js';
import type { ObjectId } from './object-id.js';

/** Title and comment of a write, in the service's own audit trail. Never empty, cut to the service's sizes. */
export interface Words {
  readonly title: string;
  readonly comment: string;
}

/** How one change ended. */
export type Outcome = (
  | { readonly status: 'applied' }
  | { readonly status: 'failed'; readonly error: OutcomeError; readonly partly: boolean }
  | {
      readonly status: 'skipped';
      readonly why: string;
      /** The service wants an approval first: no failure, and nothing that another run could mend. */
      readonly approvalNeeded?: true;
    }
) & {
  /** Of identities: which of them the service took. There is no other way to know. */
  readonly identities?: IdentitiesAnswer;
};

/** What became of the identities that were sent; each key stands in one of the two. */
export interface IdentitiesAnswer {
  readonly written: readonly string[];
  readonly failed: readonly FailedIdentity[];
}

export interface FailedIdentity {
  readonly key: string;
  /** HTTP status that the service gave this identity; null where it gave none. */
  readonly status: number | null;
  /** In the service's words, cleaned; may hold the key. */
  readonly message: string;
}

/**
 * - `CHANGED_MEANWHILE`: the definition is not what the plan was made from; nothing was written.
 * - `SEGMENT_SHRANK`: an upload replaced the keys of a segment; they were put back.
 * - `IDENTITIES_REFUSED`: the service took some identities and not others, see `Outcome.identities`.
 * - `BUG`: ours.
 */
export type OutcomeCode =
  ErrorCode | 'CHANGED_MEANWHILE' | 'SEGMENT_SHRANK' | 'IDENTITIES_REFUSED' | 'BUG';

export interface OutcomeError {
  readonly code: OutcomeCode;
  readonly message: string;
  readonly status: number | null;
  readonly transactionId: string | null;
}

export type Outcomes = ReadonlyMap<ObjectId, Outcome>;

/** Something that a run could not know, and what that costs. */
export interface Unknown {
  readonly code:
    /** The directory is no git repository, or has no commit. */
    | 'no-git'
    | 'shallow-clone'
    /** Commits that runs applied are not here: history was rewritten, or is not whole. */
    | 'missing-commits';
  /** One sentence for people, without a full stop. */
  readonly message: string;
}

/** The commit that the specs were read from. */
export interface Revision {
  /** Null where there is no git, or no commit. */
  readonly commit: string | null;
  /** Whether the working tree was read and differs from that commit. */
  readonly dirty: boolean;
}
