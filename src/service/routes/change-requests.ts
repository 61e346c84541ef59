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
import { isVisible, type Endpoints } from '../http/endpoint.js';
import { at, checkNothingRequested, find, type Work } from '../http/place.js';
import { badRequest } from '../http/problem.js';
import { DEFINITION_BODY } from '../rules/definition-schema.js';
import { KEY_SCHEMA, keysToAdd, keysToRemove } from '../rules/keys.js';
import {
  givenText,
  NUMBER_PARAMETER,
  pageFrom,
  textParameter,
  wholeNumber,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  insertChangeRequest,
  listChangeRequests,
  wireChangeRequest,
} from '../store/change-requests.js';
import { wireDefinition } from '../store/definitions.js';
import { OPERATIONS, type ChangeRequestOperation } from '../store/tables.js';
import { answer, answerMarked } from './answer-schemas.js';
import { checkedDefinition } from './checked-definition.js';
import { commentOf, decide, DECISION_BODY, recordedRequest } from './decisions.js';
import { checkRolloutStatus } from './flags.js';

/** The new definition, or as much of it as the operation needs; the name is that of the flag. */
const SPLIT: Schema = {
  ...DEFINITION_BODY,
  type: ['object', 'null'],
  required: ['name'],
  properties: { ...DEFINITION_BODY.properties, name: { type: 'string', minLength: 1 } },
};

const SEGMENT: Schema = {
  ...closed(
    { name: { type: 'string', minLength: 1 }, keys: { type: 'array', items: KEY_SCHEMA } },
    ['name', 'keys'],
  ),
  type: ['object', 'null'],
};

/** The body of a new change request, with either `split` or `segment`. Changes cannot be scheduled for later. */
const CHANGE_REQUEST_BODY: Schema = closed(
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
    write: at('environment', { note: 'both' }, async (work) => {
      const { db, caller, workspace, environment } = work;
      const given = work.body as GivenRequest;
      const { operationType: operation, rolloutStatus } = given;
      const { kind, name } = objectOf(given);
      const movesKill = operation === 'KILL' || operation === 'RESTORE';
      await checkNothingRequested(db, work, { kind, name, ...(movesKill && { operation }) });
      const content = given.split
        ? await definitionIn(work, given.split, operation)
        : await keysIn(work, name, given.segment?.keys ?? [], operation);
      if (rolloutStatus) await checkRolloutStatus(db, workspace.id, rolloutStatus);
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
        rollout_status_id: rolloutStatus?.id ?? null,
        approvers_json: JSON.stringify(await approversNamed(work, given)),
        comments_json: JSON.stringify([commentOf(caller, 'SUBMITTER')]),
        author_id: caller.keyId ?? '',
        author_name: caller.keyName,
        creation_time: caller.now,
      });
      return recordedRequest(db, caller, 'request-change', id, null);
    }),
  },
  'GET /changeRequests': {
    summary: 'List change requests, the newest first',
    answer: answerMarked('ChangeRequest'),
    query: CHANGE_REQUEST_QUERY,
    // `nextMarker` leads to the next page, and is null on the last.
    read: at('nothing', {}, async ({ db, query, caller }) => {
      const { limit } = pageFrom({ limit: query['limit'] }, 'requests');
      const before = wholeNumber('after', query['after'], 0);
      const filter = {
        ...caller.scope,
        environment: givenText(query['environmentId']),
        status: givenText(query['status']),
        before: before > 0 ? before : undefined,
      };
      const found = await listChangeRequests(db, filter, limit + 1);
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return {
        data: rows.map(wireChangeRequest),
        nextMarker: last === undefined ? null : String(last.position),
        previousMarker: null,
        limit,
        count: rows.length,
      };
    }),
  },
  'GET /changeRequests/:changeRequest': {
    summary: 'Get a change request',
    answer: answer('ChangeRequest'),
    read: at('changeRequest', {}, ({ changeRequest }) => wireChangeRequest(changeRequest)),
  },
  'PUT /changeRequests/:changeRequest': {
    summary: 'Approve a change request, which makes the change; or reject or withdraw it',
    answer: answer('ChangeRequest'),
    body: DECISION_BODY,
    write: decide,
  },
};

interface GivenObject extends Readonly<Record<string, unknown>> {
  readonly name: string;
}

interface GivenRequest {
  readonly split?: GivenObject | null;
  readonly segment?: (GivenObject & { readonly keys: readonly string[] }) | null;
  readonly operationType: ChangeRequestOperation;
  readonly rolloutStatus?: { readonly id: string } | null;
  readonly approvers?: readonly string[] | null;
}

/** @throws Problem (400) it names not one object, or an operation that only definitions have. */
function objectOf({ split, segment, operationType, rolloutStatus }: GivenRequest) {
  const given = split ?? segment;
  if (!given || (split && segment)) {
    throw badRequest('A change request is about either a split or a segment');
  }
  if (segment && !['CREATE', 'ARCHIVE'].includes(operationType)) {
    throw badRequest('Keys of a segment are added by CREATE and removed by ARCHIVE');
  }
  if (segment && rolloutStatus) throw badRequest('A segment has no rollout status');
  return { kind: split ? 'flag' : 'segment', name: given.name } as const;
}

async function keysIn(
  work: Work<'environment'>,
  segment: string,
  keys: readonly string[],
  operation: ChangeRequestOperation,
): Promise<string[]> {
  await find('activation', work.db, { ...work, params: { ...work.params, segment } });
  return operation === 'CREATE' ? keysToAdd(keys) : keysToRemove(keys);
}

/** Null for operations that need no content. */
async function definitionIn(
  work: Work<'environment'>,
  given: GivenObject,
  operation: ChangeRequestOperation,
) {
  const { db } = work;
  const about = { ...work, params: { ...work.params, flag: given.name } };
  const isNew = operation === 'CREATE';
  const before = isNew ? null : wireDefinition((await find('definition', db, about)).stored);
  if (!isNew && operation !== 'UPDATE') return null;
  const { flag } = await find('flag', db, about);
  return (await checkedDefinition(db, work, { flag, before }, given)).content;
}

async function approversNamed(
  { db, caller: { keyId, now }, workspace, environment }: Work<'environment'>,
  { approvers: named, rolloutStatus }: GivenRequest,
): Promise<WireRef[]> {
  if (!named || named.length === 0) return [];
  const able = (await allAdminKeys(db)).filter(
    (key) =>
      key.apiKeyType === 'admin' &&
      isValidKey(key, now) &&
      isVisible(key.workspaces, workspace.id) &&
      // All environments share a rollout status.
      (rolloutStatus ? key.environments === null : isVisible(key.environments, environment.id)),
  );
  const approvers = new Map<string, WireRef>();
  for (const each of named) {
    const key = able.find(({ id, name }) => each === id || each === name);
    const what = `Admin API key ${each} that could approve in ${environment.name}`;
    if (key === undefined) throw badRequest(`There is no ${what}`);
    approvers.set(key.id, { id: key.id, name: key.name });
  }
  if ([...approvers.keys()].every((id) => id === keyId)) {
    throw badRequest('The author of a change request cannot approve it: name another key');
  }
  return [...approvers.values()];
}
