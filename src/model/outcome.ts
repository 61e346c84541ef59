import type { WireDefinition } from '../admin-api/wire.js';
import type { ErrorCode } from '../errors.js';
import type { Plan as WrittenPlan } from '../generated/plan.schema.d.js';
import type { ChangeRequest } from './change-request.js';
import type { Frozen, ItemOf } from './json.js';
import type { ObjectId } from './ref.js';

/** In the service's own audit trail. Never empty, cut to the service's sizes. */
export interface ChangeNote {
  readonly title: string;
  readonly comment: string;
}

export type Outcome = (
  | { readonly status: 'applied' }
  | {
      readonly status: 'failed';
      readonly error: OutcomeError;
      readonly partly: boolean;
      /** A write was sent, but no answer says whether it took effect. */
      readonly fateUnknown?: true;
    }
  | {
      readonly status: 'skipped';
      readonly why: string;
      /** Some writes of the change had been sent before it ended. */
      readonly partly?: true;
      /** The service wants an approval first: this is no failure, and another run would not help. */
      readonly approvalNeeded?: true;
      /** It is another change that was skipped by itself, and this one needs it. */
      readonly isWaitingForAnother?: true;
      /** The change request that was submitted for it, or that the service had already. */
      readonly request?: ChangeRequest;
      /** Someone else was quicker, so nothing is left to do; the changes that depended on it are planned again. */
      readonly overtaken?: true;
      /** The environment's window closed during the run: this is no failure. */
      readonly windowClosed?: true;
      /** When a later run applies it without help, ISO 8601 in UTC. */
      readonly until?: string;
    }
) & {
  /** The only source of which identities the service has: the contract has no operation that reads them. */
  readonly identities?: IdentitiesAnswer;
  /** For a created definition only: what the service answered to its creation. */
  readonly created?: WireDefinition;
};

/** The verification turns it into the `Outcome` of its change. */
export type StepEnd =
  | { readonly status: 'succeeded'; readonly identities?: IdentitiesAnswer | undefined }
  | { readonly status: 'failed'; readonly error: OutcomeError }
  | Extract<Outcome, { readonly status: 'skipped' }>;

/** Each key of the request stands in one of the two. */
export interface IdentitiesAnswer {
  readonly written: readonly string[];
  readonly failed: readonly FailedIdentity[];
}

export interface FailedIdentity {
  readonly key: string;
  /** Null where the service gave none. */
  readonly status: number | null;
  /** The service's own words, cleaned. They may contain the key. */
  readonly message: string;
}

/** Codes of single changes, which never end a run. */
export const CHANGE_CODES = [
  /** The definition changed since the plan was made; nothing was written. */
  'CHANGED_MEANWHILE',
  /** The service keeps an archived flag of the name that a new flag wants. */
  'NAME_ARCHIVED',
  /** An upload replaced the keys of a segment; the run put them back. */
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

/** A fact that a run could not find out, and the consequence. */
export type Unknown = ItemOf<WrittenPlan['unknowns']>;

/** The commit that the specs were read from. */
export type Revision = Frozen<WrittenPlan['revision']>;

/** How one kill ended; `absent`: the flag has no definition there, so there was nothing to kill. */
export type KillResult =
  | {
      readonly status: 'killed';
      readonly note: ChangeNote;
      /** It was sent without a look, so that the flag may have been killed before. */
      readonly unseen?: true;
      /** From the answers of the service; unset if none shows it. */
      readonly flagId?: string;
    }
  | { readonly status: 'absent' }
  | {
      readonly status: 'failed';
      readonly error: unknown;
      /** Unset if nothing was sent. */
      readonly note?: ChangeNote;
    };

/** The kills that were not on the service when the run began; in the order of the specs. */
export type KillResults = ReadonlyMap<ObjectId, KillResult>;

/** A change of an apply, or a write outside a run, as the commit of the state lists it. */
export interface LoggedChange {
  /** `applied`, `failed` or `skipped`; `planned` before the first request. */
  readonly outcome: string;
  /** Action of the change; `kill` or `restore` for a write outside a plan. */
  readonly action: string;
  readonly id: string;
  readonly title: string;
  /** Missing if nothing can have reached the service, or if an older version wrote the commit. */
  readonly written?: LoggedWrite;
}

export interface LoggedWrite {
  readonly comment: string;
  readonly fields: readonly LoggedField[];
  readonly keys?: LoggedKeys;
}

export interface LoggedField {
  /** JSON Pointer into the canonical form. */
  readonly path: string;
  /** Missing if there was no value before, or if it was too long; likewise `after`. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** For individual targets: numbers in place of the values. */
  readonly keys?: LoggedKeys;
}

/** Numbers of keys; `changed` counts identities. */
export interface LoggedKeys {
  readonly added: number;
  readonly removed: number;
  readonly changed?: number;
}
