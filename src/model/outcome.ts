import type { ErrorCode } from '../errors.js';
import type { ObjectId } from './ref.js';

/** Title and comment of a write, in the service's own audit trail. Never empty, cut to the service's sizes. */
export interface ChangeNote {
  readonly title: string;
  readonly comment: string;
}

/** How one change ended. */
export type Outcome = (
  | { readonly status: 'applied' }
  | {
      readonly status: 'failed';
      readonly error: OutcomeError;
      readonly partly: boolean;
      /** A write was sent, and no answer tells whether it was made. */
      readonly fateUnknown?: true;
    }
  | {
      readonly status: 'skipped';
      readonly why: string;
      /** Some of its writes were sent before. */
      readonly partly?: true;
      /** The service wants an approval first: no failure, and nothing that another run could mend. */
      readonly approvalNeeded?: true;
      /** Somebody else was quicker, and nothing is left to do about it: what had to wait for it is planned again. */
      readonly overtaken?: true;
      /** Its window closed while the run was under way: no failure either. */
      readonly windowClosed?: true;
      /** When it goes by itself, ISO 8601 in UTC. */
      readonly until?: string;
    }
) & {
  /**
   * For identities only: which of them the service took. There is no other way to know, since the
   * contract shows no operation that reads identities.
   */
  readonly identities?: IdentitiesAnswer;
};

/** How one step ended, as it is told while the run goes on; what a second look makes of its change is an `Outcome`. */
export type StepEnd =
  | { readonly status: 'succeeded'; readonly identities: IdentitiesAnswer | undefined }
  | { readonly status: 'failed'; readonly error: OutcomeError }
  | Extract<Outcome, { readonly status: 'skipped' }>;

/** What became of the identities that were sent; each key stands in one of the two. */
export interface IdentitiesAnswer {
  readonly written: readonly string[];
  readonly failed: readonly FailedIdentity[];
}

export interface FailedIdentity {
  readonly key: string;
  /** HTTP status that the service gave this identity; null where it gave none. */
  readonly status: number | null;
  /** The service's own words, cleaned. They may hold the key. */
  readonly message: string;
}

/**
 * Codes that stand at a change and never end a run.
 *
 * - `CHANGED_MEANWHILE`: the definition is not what the plan was made from; nothing was written.
 * - `SEGMENT_SHRANK`: an upload replaced the keys of a segment; they were put back.
 * - `IDENTITIES_REFUSED`: the service took some identities and not others, see `Outcome.identities`.
 * - `BUG`: ours.
 */
export const CHANGE_CODES = [
  'CHANGED_MEANWHILE',
  'SEGMENT_SHRANK',
  'IDENTITIES_REFUSED',
  'BUG',
] as const;

export type OutcomeCode = ErrorCode | (typeof CHANGE_CODES)[number];

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
    | 'missing-commits'
    /** Something differs, and no run remembers anything that was applied from here. */
    | 'nothing-remembered'
    /** What runs on other machines applied: origin could not be read. */
    | 'state-not-read'
    /** To runs on other machines: what this run applied. */
    | 'state-not-shared';
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

/** How one kill went; `absent`: the flag has no definition there, and nothing was written. */
export type KillResult =
  | { readonly status: 'killed'; readonly note: ChangeNote }
  | { readonly status: 'absent' }
  | {
      readonly status: 'failed';
      readonly error: unknown;
      /** The words that it carried; absent: it was not sent. */
      readonly note?: ChangeNote;
    };

/** The kills of one run that were not on the service yet; in the order of the specs. */
export type KillResults = ReadonlyMap<ObjectId, KillResult>;
