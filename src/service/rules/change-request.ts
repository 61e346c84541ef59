import type { WireRef } from '../../admin-api/wire.js';
import { badRequest, conflict, forbidden } from '../http/problem.js';
import type {
  AuditAction,
  ChangeRequestKind,
  ChangeRequestOperation,
  ChangeRequestStatus,
  ChangeRequestTable,
} from '../store/tables.js';
import { isUnrestricted, type Caller } from '../http/endpoint.js';
import { DEFINITION_BODY } from './definition-schema.js';
import { KEY_SCHEMA } from './keys.js';
import { closed, type Schema } from './shape.js';
import { WORDS_MEMBERS } from './members.js';

const OPERATIONS: readonly ChangeRequestOperation[] = [
  'CREATE',
  'UPDATE',
  'KILL',
  'RESTORE',
  'ARCHIVE',
];

/** The new definition, or as much of it as the operation needs; the name is that of the flag. */
const SPLIT: Schema = {
  ...DEFINITION_BODY,
  type: ['object', 'null'],
  required: ['name'],
  properties: {
    ...DEFINITION_BODY.properties,
    name: { type: 'string', minLength: 1 },
  },
};

const SEGMENT: Schema = {
  ...closed(
    { name: { type: 'string', minLength: 1 }, keys: { type: 'array', items: KEY_SCHEMA } },
    ['name', 'keys'],
  ),
  type: ['object', 'null'],
};

/** The body of a new change request, with either `split` or `segment`. Changes cannot be scheduled for later. */
export const CHANGE_REQUEST_BODY: Schema = closed(
  {
    split: SPLIT,
    segment: SEGMENT,
    operationType: { enum: OPERATIONS },
    rolloutStatus: { ...closed({ id: { type: 'string' } }, ['id']), type: ['object', 'null'] },
    approvers: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Names or ids of the Admin API keys that alone may approve.',
    },
    scheduledFor: { type: 'null' },
    scheduledForTimezone: { type: 'null' },
    ...WORDS_MEMBERS,
  },
  ['operationType'],
);

export const DECISION_BODY: Schema = closed(
  { status: { enum: ['APPROVED', 'REJECTED', 'WITHDRAWN'] }, ...WORDS_MEMBERS },
  ['status'],
);

export interface RequestedChange {
  readonly kind: ChangeRequestKind;
  readonly name: string;
  readonly operation: ChangeRequestOperation;
  /** `split` or `segment` of the body. */
  readonly given: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly rolloutStatusId: string | null;
  readonly approvers: readonly string[];
}

interface GivenRequest {
  readonly split?: RequestedChange['given'] | null;
  readonly segment?: RequestedChange['given'] | null;
  readonly operationType: ChangeRequestOperation;
  readonly rolloutStatus?: { readonly id: string } | null;
  readonly approvers?: readonly string[] | null;
}

/** @throws Problem (400) it names not one object, or an operation that only definitions have. */
export function requestedChange(body: unknown): RequestedChange {
  const { split, segment, operationType, rolloutStatus, approvers } = body as GivenRequest;
  const given = split ?? segment;
  if (!given || (split && segment)) {
    throw badRequest('A change request is about either a split or a segment');
  }
  const rolloutStatusId = rolloutStatus?.id ?? null;
  if (segment && !['CREATE', 'ARCHIVE'].includes(operationType)) {
    throw badRequest('Keys of a segment are added by CREATE and removed by ARCHIVE');
  }
  if (segment && rolloutStatusId !== null) throw badRequest('A segment has no rollout status');
  return {
    kind: split ? 'flag' : 'segment',
    name: given.name,
    operation: operationType,
    given,
    rolloutStatusId,
    approvers: approvers ?? [],
  };
}

export interface Decision {
  readonly status: ChangeRequestStatus;
  readonly action: AuditAction;
  /** The side of the deciding key, in the words of public documentation. */
  readonly role: 'SUBMITTER' | 'APPROVER';
}

const DECISIONS: Readonly<Record<string, Omit<Decision, 'role'>>> = {
  APPROVED: { status: 'PUBLISHED', action: 'approve' },
  REJECTED: { status: 'REJECTED', action: 'reject' },
  WITHDRAWN: { status: 'WITHDRAWN', action: 'withdraw' },
};

/**
 * An unrestricted key may end any request without the change, because all keys that could otherwise do so may be
 * revoked.
 *
 * @throws Problem (409) it is decided already. @throws Problem (403) the author tries to approve or reject it, another
 * key to withdraw it, or it names other approvers.
 */
export function decisionOn(
  request: ChangeRequestTable | Omit<ChangeRequestTable, 'position'>,
  caller: Caller,
  body: unknown,
): Decision {
  const { status } = body as { readonly status: string };
  const decision = DECISIONS[status];
  if (decision === undefined) throw new Error(`bug: no decision is called ${status}`);
  if (request.status !== 'REQUESTED') {
    throw conflict(`Change request ${request.id} is ${request.status} already`);
  }
  const isAuthor = caller.keyId === request.author_id;
  if (status === 'APPROVED' || !isUnrestricted(caller)) {
    checkMayDecide(request, { keyId: caller.keyId, isAuthor }, status);
  }
  return { ...decision, role: isAuthor ? 'SUBMITTER' : 'APPROVER' };
}

function checkMayDecide(
  request: Pick<ChangeRequestTable, 'approvers_json'>,
  { keyId, isAuthor }: { readonly keyId: string | null; readonly isAuthor: boolean },
  status: string,
): void {
  if (status === 'WITHDRAWN') {
    if (!isAuthor) throw forbidden('Only its author withdraws a change request; reject it');
    return;
  }
  if (isAuthor) {
    throw forbidden('The author of a change request neither approves nor rejects it; withdraw it');
  }
  const approvers = approversOf(request);
  if (approvers.length === 0 || approvers.some(({ id }) => id === keyId)) return;
  const names = approvers.map(({ name }) => name).join(', ');
  throw forbidden(`This change request is decided by ${names}`);
}

export function approversOf({ approvers_json }: Pick<ChangeRequestTable, 'approvers_json'>) {
  return JSON.parse(approvers_json) as WireRef[];
}
