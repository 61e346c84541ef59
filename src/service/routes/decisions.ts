/** Decisions on change requests: who may take which, and the change that an approval makes. */

import { isUnrestricted, type ApiRequest, type Caller, type Step } from '../http/endpoint.js';
import { at, type Work } from '../http/place.js';
import { conflict, forbidden } from '../http/problem.js';
import { differenceOf, recordChange, written } from '../change-log.js';
import type { DefinitionContent } from '../rules/definition.js';
import { WORDS_MEMBERS } from '../rules/members.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  approversOf,
  closeChangeRequest,
  findChangeRequest,
  openChangeRequestsBefore,
  wireChangeRequest,
  type RequestComment,
  type StoredChangeRequest,
} from '../store/change-requests.js';
import type { AuditAction, ChangeRequestStatus, Db } from '../store/tables.js';
import {
  createDefinition,
  kill,
  removeDefinition,
  replaceDefinition,
  restore,
} from './definitions.js';
import { moveRolloutStatus } from './flags.js';
import { removeKeysOf, uploadKeys } from './segments.js';

const DECISIONS = {
  APPROVED: { status: 'PUBLISHED', action: 'approve' },
  REJECTED: { status: 'REJECTED', action: 'reject' },
  WITHDRAWN: { status: 'WITHDRAWN', action: 'withdraw' },
} as const satisfies Readonly<Record<string, { status: ChangeRequestStatus; action: AuditAction }>>;

export type DecisionName = keyof typeof DECISIONS;

export const DECISION_BODY: Schema = closed(
  { status: { enum: Object.keys(DECISIONS) }, ...WORDS_MEMBERS },
  ['status'],
);

/**
 * An unrestricted key may end any request without the change, because all keys that could otherwise do so may be
 * revoked.
 *
 * @throws Problem (409) it is decided already; (403) the author tries to approve or reject it, another key to withdraw
 * it, or it names other approvers.
 */
export function checkMayDecide(
  request: StoredChangeRequest,
  caller: Caller,
  decision: DecisionName,
): void {
  if (request.status !== 'REQUESTED') {
    throw conflict(`Change request ${request.id} is ${request.status} already`);
  }
  if (decision !== 'APPROVED' && isUnrestricted(caller)) return;
  const isAuthor = caller.keyId === request.author_id;
  if (decision === 'WITHDRAWN') {
    if (isAuthor) return;
    throw forbidden('Only its author withdraws a change request; reject it');
  }
  if (isAuthor) {
    throw forbidden('The author of a change request neither approves nor rejects it; withdraw it');
  }
  const approvers = approversOf(request);
  if (approvers.length === 0 || approvers.some(({ id }) => id === caller.keyId)) return;
  const names = approvers.map(({ name }) => name).join(', ');
  throw forbidden(`This change request is decided by ${names}`);
}

/** Approving makes the change: either both happen or neither. */
export const decide = at('changeRequest', {}, async (work) => {
  const { db, caller, changeRequest: before } = work;
  const { status: decision } = work.body as { readonly status: DecisionName };
  checkMayDecide(before, caller, decision);
  const { status, action } = DECISIONS[decision];
  const role = caller.keyId === before.author_id ? 'SUBMITTER' : 'APPROVER';
  await close(db, caller, before, status, role);
  if (decision === 'APPROVED') await publish(work);
  return recordedRequest(db, caller, action, before.id, before);
});

/** Makes the change that was approved, with the title and comment of its request, by the key that approves. */
async function publish({ db, caller, changeRequest: row }: Work<'changeRequest'>): Promise<void> {
  const { id, kind, operation, name, title, comment } = row;
  const request: ApiRequest = {
    params: { ws: row.workspace_id, env: row.environment_id, flag: name, segment: name },
    query: {},
    body: bodyOf(row),
    caller: { ...caller, note: { title, comment } },
    publishes: id,
  };
  const change = CHANGES[`${kind} ${operation}`];
  if (change === undefined) throw new Error('bug: a change request that cannot be carried out');
  await change(db, request);
  if (row.rollout_status_id !== null) await moveRolloutStatus(row.rollout_status_id)(db, request);
}

/** The body that the endpoint of the change takes; for a replacement, without `killed`. */
function bodyOf({ kind, operation, content_json }: StoredChangeRequest): unknown {
  const content = JSON.parse(content_json) as unknown;
  if (kind === 'segment' || content === null) return content;
  const { killed, body } = content as DefinitionContent;
  return operation === 'CREATE' ? { killed, ...body } : body;
}

/** Requests for keys only add or remove. */
const CHANGES: Readonly<Record<string, Step>> = {
  'flag CREATE': createDefinition,
  'flag UPDATE': replaceDefinition,
  'flag KILL': kill,
  'flag RESTORE': restore,
  'flag ARCHIVE': removeDefinition,
  'segment CREATE': uploadKeys,
  'segment ARCHIVE': removeKeysOf,
};

export async function withdrawOlderThan(db: Db, caller: Caller, time: number): Promise<void> {
  for (const before of await openChangeRequestsBefore(db, time)) {
    await close(db, caller, before, 'WITHDRAWN', 'APPROVER');
    await recordedRequest(db, caller, 'expire', before.id, before);
  }
}

async function close(
  db: Db,
  caller: Caller,
  before: StoredChangeRequest,
  status: ChangeRequestStatus,
  role: RequestComment['role'],
): Promise<void> {
  const comments = JSON.parse(before.comments_json) as RequestComment[];
  const comments_json = JSON.stringify([...comments, commentOf(caller, role)]);
  await closeChangeRequest(db, before, { status, comments_json });
}

export function commentOf(caller: Caller, role: RequestComment['role']): RequestComment {
  return { comment: caller.note.comment, user: caller.keyName, role, timestamp: caller.now };
}

/** @param before null for a new request. */
export async function recordedRequest(
  db: Db,
  caller: Caller,
  action: AuditAction,
  id: string,
  before: StoredChangeRequest | null,
): Promise<object> {
  const after = written(await findChangeRequest(db, id));
  const { kind, name, workspace_id, environment_id, environment_name } = after;
  const workspace = { id: workspace_id };
  const environment = { id: environment_id, name: environment_name };
  const difference = differenceOf(before && summaryOf(before), summaryOf(after));
  await recordChange({ db, caller, workspace, environment }, { kind, name, action, difference });
  return wireChangeRequest(after);
}

function summaryOf({ id, operation, status, author_name: author }: StoredChangeRequest): object {
  return { changeRequest: { id, operationType: operation, status, author } };
}
