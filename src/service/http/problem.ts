import { failureOf } from '../store/failures.js';

/** A refusal, which HTTP answers in the contract's error shape. Clients go by the status alone. */
export class Problem extends Error {
  readonly status: number;
  /** The answer has no body; the contract has one such answer. */
  readonly bodyless: boolean;
  readonly details: string;

  constructor(
    status: number,
    message: string,
    options: { bodyless?: boolean; details?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.status = status;
    this.bodyless = options.bodyless ?? false;
    this.details = options.details ?? '';
  }
}

export const badRequest = (why: string, cause?: unknown): Problem =>
  new Problem(400, why, { cause });
export const unauthorised = (why = 'API key missing, wrong, revoked or of another type'): Problem =>
  new Problem(401, why);
export const forbidden = (why: string): Problem => new Problem(403, why);
export const notFound = (what: string, idOrName: string): Problem =>
  new Problem(404, `The ${what} ${idOrName} could not be found`);
export const conflict = (why: string): Problem => new Problem(409, why);

/** Undefined for errors of other kinds. The client has to read whether a write was made before it sends it again. */
export function storeProblem(cause: unknown): Problem | undefined {
  const failure = failureOf(cause);
  if (failure === undefined) return undefined;
  const { status, message, code } = failure;
  return new Problem(status, message, { details: code, cause });
}

/** The contract's answer where a flag has no definition in an environment. */
export const definitionNotFound = (requested: string): Problem =>
  new Problem(404, `The flag metadata with id ${requested} could not be found`);

/** As public documentation shows it, with the ids that a client needs to ask for approval. */
export const approvalsRequired = (environmentId: string): Problem =>
  new Problem(403, `Approvals are required. orgId=${ORGANISATION_ID} envId=${environmentId}`, {
    details: 'Submit a change request, which another Admin API key approves',
  });

/** While a change request is open, its object may not change, so that approvers approve what they saw. */
export const waitsForChangeRequest = (id: string): Problem =>
  new Problem(423, `Change request ${id} is open: approve, reject or withdraw it first`);

/** The service has one organisation and never asks for it. */
const ORGANISATION_ID = 'flagkeel';
