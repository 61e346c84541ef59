/**
 * Endpoints of change requests. In an environment that requires approvals, one Admin API key asks for a change and
 * another approves it, which makes the change in the same transaction.
 *
 * A request is complete: the service checks its whole content when it is submitted, and refuses other changes of its
 * object while it is open (423), so that approvers approve what they saw. Only kills and restores are still possible,
 * and may be requested beside it. The service withdraws requests that stay undecided for too long.
 */

import { randomUUID } from 'node:crypto';
import type { WireRef } from '../../admin-api/wire.js';
import { allAdminKeys, isValidKey } from '../admin-keys.js';
import { recordChange, written, differenceOf } from '../change-log.js';
import {
  isPlaceVisible,
  isVisible,
  type ApiRequest,
  type Caller,
  type Endpoints,
  type Step,
} from '../http/endpoint.js';
import { at, checkNothingRequested, find, type Work } from '../http/place.js';
import { badRequest, notFound } from '../http/problem.js';
import {
  CHANGE_REQUEST_BODY,
  DECISION_BODY,
  decisionOn,
  requestedChange,
  type Decision,
  type RequestedChange,
} from '../rules/change-request.js';
import type { DefinitionContent } from '../rules/definition.js';
import { keysToAdd, keysToRemove } from '../rules/keys.js';
import {
  givenText,
  pageFrom,
  wholeNumber,
  NUMBER_PARAMETER,
  textParameter,
  type QuerySchema,
} from '../rules/members.js';
import {
  closeChangeRequest,
  findChangeRequest,
  insertChangeRequest,
  listChangeRequests,
  openChangeRequestsBefore,
  wireChangeRequest,
  type RequestComment,
  type StoredChangeRequest,
} from '../store/change-requests.js';
import { wireDefinition } from '../store/definitions.js';
import type { Store } from '../store/store.js';
import type { AuditAction, ChangeRequestKind, Db } from '../store/tables.js';
import { answer, answerMarked } from './answer-schemas.js';
import { checkedDefinition } from './checked-definition.js';
import { checkRolloutStatus, moveRolloutStatus } from './flags.js';
import { removeKeysOf, uploadKeys } from './segments.js';
import {
  createDefinition,
  kill,
  removeDefinition,
  replaceDefinition,
  restore,
} from './definitions.js';

const CHANGE_REQUEST_QUERY: QuerySchema = {
  limit: {
    ...NUMBER_PARAMETER,
    minimum: 1,
    default: 20,
    description: 'One above 100 is cut, and the answer says so.',
  },
  after: { ...textParameter('`nextMarker` of the page before.'), pattern: '^[0-9]{0,15}$' },
  environmentId: textParameter('Id or name.'),
  status: textParameter('`REQUESTED`, `PUBLISHED`, `REJECTED` or `WITHDRAWN`.'),
};

export const CHANGE_REQUEST_ENDPOINTS: Endpoints = {
  'POST /changeRequests/ws/:ws/environments/:env': {
    summary: 'Ask for a change of a definition or of the keys of a segment',
    takesMany: true,
    answer: answer('ChangeRequest'),
    body: CHANGE_REQUEST_BODY,
    write: at('environment', { note: 'both' }, submit),
  },
  'GET /changeRequests': {
    summary: 'List change requests, the newest first',
    answer: answerMarked('ChangeRequest'),
    query: CHANGE_REQUEST_QUERY,
    read: readChangeRequests,
  },
  'GET /changeRequests/:changeRequest': {
    summary: 'Get a change request',
    answer: answer('ChangeRequest'),
    read: async (db, request) => wireChangeRequest(await changeRequestAt(db, request)),
  },
  'PUT /changeRequests/:changeRequest': {
    summary: 'Approve a change request, which makes the change; or reject or withdraw it',
    answer: answer('ChangeRequest'),
    body: DECISION_BODY,
    write: decide,
  },
};

/** @throws Problem (404) there is none, or the caller's key does not see its environment. */
export async function changeRequestAt(
  db: Db,
  { params, caller }: ApiRequest,
): Promise<StoredChangeRequest> {
  const id = params['changeRequest'] ?? '';
  const found = await findChangeRequest(db, id);
  if (found === undefined || !isPlaceVisible(caller, found.workspace_id, found.environment_id)) {
    throw notFound('change request', id);
  }
  return found;
}

/** `nextMarker` leads to the next page, and is null on the last. */
async function readChangeRequests(db: Db, { query, caller }: ApiRequest): Promise<object> {
  const { limit } = pageFrom({ limit: query['limit'] }, { usual: 20, largest: 100 });
  const before = wholeNumber('after', query['after'], 0);
  const filter = {
    ...caller.scope,
    environment: givenText(query['environmentId']),
    status: givenText(query['status']),
    before: before > 0 ? before : undefined,
  };
  const found = await listChangeRequests(db, filter, limit + 1);
  const data = found.slice(0, limit);
  const last = found.length > limit ? data.at(-1) : undefined;
  return {
    data: data.map(wireChangeRequest),
    nextMarker: last === undefined ? null : String(last.position),
    previousMarker: null,
    limit,
    count: data.length,
  };
}

async function submit(work: Work<'environment'>): Promise<object> {
  const { db, caller, workspace, environment } = work;
  const wanted = requestedChange(work.body);
  const { kind, name, operation, rolloutStatusId } = wanted;
  const object = { kind, name, workspaceId: workspace.id, environmentId: environment.id };
  const movesKill = operation === 'KILL' || operation === 'RESTORE';
  await checkNothingRequested(db, movesKill ? { ...object, operation } : object);
  const content = await CONTENT[kind](work, wanted);
  if (rolloutStatusId !== null) {
    await checkRolloutStatus(db, workspace.id, { id: rolloutStatusId });
  }
  const id = randomUUID();
  await insertChangeRequest(db, {
    id,
    workspace_id: workspace.id,
    environment_id: environment.id,
    kind,
    name,
    operation,
    status: 'REQUESTED',
    ...caller.note,
    content_json: JSON.stringify(content),
    rollout_status_id: rolloutStatusId,
    approvers_json: JSON.stringify(await approversNamed(work, wanted.approvers)),
    comments_json: JSON.stringify([commentOf(caller, 'SUBMITTER')]),
    author_id: caller.keyId ?? '',
    author_name: caller.keyName,
    creation_time: caller.now,
  });
  return recordedRequest(db, caller, { id, action: 'request-change', before: null });
}

function commentOf(caller: Caller, role: RequestComment['role']): RequestComment {
  return { comment: caller.note.comment, user: caller.keyName, role, timestamp: caller.now };
}

const CONTENT: Readonly<
  Record<
    ChangeRequestKind,
    (work: Work<'environment'>, change: RequestedChange) => Promise<unknown>
  >
> = {
  segment: async (work, { name, operation, given }) => {
    await find('activation', work.db, { ...work, params: { ...work.params, segment: name } });
    const keys = given['keys'] as string[];
    return operation === 'CREATE' ? keysToAdd(keys) : keysToRemove(keys);
  },
  /** Null for operations that need no content. */
  flag: async (work, { name, operation, given }) => {
    const { db } = work;
    const about = { ...work, params: { ...work.params, flag: name } };
    const isNew = operation === 'CREATE';
    const before = isNew ? null : wireDefinition((await find('definition', db, about)).stored);
    if (!isNew && operation !== 'UPDATE') return null;
    const { flag } = await find('flag', db, about);
    return (await checkedDefinition(db, work, { flag, before }, given)).content;
  },
};

async function approversNamed(
  { db, caller: { keyId, now }, workspace, environment }: Work<'environment'>,
  named: readonly string[],
): Promise<WireRef[]> {
  if (named.length === 0) return [];
  const able = (await allAdminKeys(db)).filter(
    (key) =>
      key.apiKeyType === 'admin' &&
      isValidKey(key, now) &&
      isVisible(key.workspaces, workspace.id) &&
      isVisible(key.environments, environment.id),
  );
  const approvers = new Map<string, WireRef>();
  for (const each of named) {
    const key = able.find(({ id, name }) => each === id || each === name);
    if (key === undefined) {
      throw badRequest(
        `There is no Admin API key ${each} that could approve in ${environment.name}`,
      );
    }
    approvers.set(key.id, { id: key.id, name: key.name });
  }
  if ([...approvers.keys()].every((id) => id === keyId)) {
    throw badRequest(
      'The author of a change request cannot approve it: name another Admin API key',
    );
  }
  return [...approvers.values()];
}

/** Approving makes the change: either both happen or neither. */
export async function decide(db: Db, request: ApiRequest, store: Store): Promise<object> {
  const { caller, body } = request;
  const before = await changeRequestAt(db, request);
  const decision = decisionOn(before, caller, body);
  await end(db, caller, before, decision);
  if (decision.status === 'PUBLISHED') await publish(db, request, store, before);
  return recordedRequest(db, caller, { id: before.id, action: decision.action, before });
}

/** Makes the change that was approved, with the title and comment of its request, by the key that approves. */
async function publish(
  db: Db,
  { caller }: ApiRequest,
  store: Store,
  row: StoredChangeRequest,
): Promise<void> {
  const { title, comment } = row;
  const request: ApiRequest = {
    params: {
      ws: row.workspace_id,
      env: row.environment_id,
      flag: row.name,
      segment: row.name,
    },
    query: {},
    body: bodyOf(row),
    caller: { ...caller, note: { title, comment } },
    publishes: row.id,
  };
  const change = CHANGES[`${row.kind} ${row.operation}`];
  if (change === undefined) throw new Error('bug: a change request that cannot be carried out');
  await change(db, request, store);
  if (row.rollout_status_id !== null) {
    await moveRolloutStatus(row.rollout_status_id)(db, request, store);
  }
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

async function end(
  db: Db,
  caller: Caller,
  before: StoredChangeRequest,
  { status, role }: Pick<Decision, 'status' | 'role'>,
): Promise<void> {
  const comments = JSON.parse(before.comments_json) as RequestComment[];
  const comments_json = JSON.stringify([...comments, commentOf(caller, role)]);
  await closeChangeRequest(db, before, { status, comments_json });
}

export async function withdrawOlderThan(db: Db, caller: Caller, time: number): Promise<void> {
  for (const before of await openChangeRequestsBefore(db, time)) {
    await end(db, caller, before, { status: 'WITHDRAWN', role: 'APPROVER' });
    await recordedRequest(db, caller, { id: before.id, action: 'expire', before });
  }
}

async function recordedRequest(
  db: Db,
  caller: Caller,
  { id, action, before }: { id: string; action: AuditAction; before: StoredChangeRequest | null },
): Promise<object> {
  const after = written(await findChangeRequest(db, id));
  const summary = (request: StoredChangeRequest | null) =>
    request && {
      changeRequest: {
        id,
        operationType: request.operation,
        status: request.status,
        author: request.author_name,
      },
    };
  const workspace = { id: after.workspace_id };
  const environment = { id: after.environment_id, name: after.environment_name };
  const { kind, name } = after;
  const difference = differenceOf(summary(before), summary(after));
  await recordChange({ db, caller, workspace, environment }, { kind, name, action, difference });
  return wireChangeRequest(after);
}
