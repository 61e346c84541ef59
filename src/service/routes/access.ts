/**
 * Endpoints of Admin API keys and of the audit log. Those of keys need an unrestricted key: with a restricted one, keys
 * could otherwise be created that may do more.
 */

import {
  addAdminKey,
  allAdminKeys,
  removeAdminKey,
  KEY_NAME_SCHEMA,
  type NewKey,
} from '../admin-keys.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, type Work } from '../http/place.js';
import { badRequest } from '../http/problem.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  WORDS_MEMBERS,
  pageFrom,
  pageOf,
  PAGE_QUERY,
  textParameter,
  givenText,
  type QuerySchema,
} from '../rules/members.js';
import { listAudit, type AuditFilter } from '../store/audit.js';
import { answer, answerList, answerPage, KEY_TYPE } from './answer-schemas.js';

/** An empty text is no valid restriction, and must not be taken for "no restriction" either. */
const NOT_EMPTY: Schema = { type: 'string', minLength: 1 };

/** A workspace or an environment, in any of the ways in which clients write references: `ID`, `NAME` or `{ id }`. */
const REFERENCE: Schema = {
  anyOf: [NOT_EMPTY, { type: 'object', required: ['id'], properties: { id: NOT_EMPTY } }],
};

/**
 * The service takes `workspace` and `workspaces` together and combines them. It refuses an empty list and, for an Admin
 * API key, any roles, because a key that is meant to be restricted must not become one that may do everything. Roles
 * mean nothing to the key of an application.
 */
const NEW_KEY_BODY: Schema = closed(
  {
    name: KEY_NAME_SCHEMA,
    apiKeyType: {
      ...KEY_TYPE,
      description:
        'Default: `admin`. The others open what applications ask, in exactly one environment.',
    },
    roles: { type: ['array', 'null'], items: { type: 'string' } },
    workspace: REFERENCE,
    workspaces: { type: 'array', minItems: 1, items: REFERENCE },
    environments: {
      type: 'array',
      minItems: 1,
      items: REFERENCE,
      description: 'Of these workspaces, where workspaces are named too.',
    },
    expirationTime: {
      type: ['integer', 'null'],
      description: 'From this moment on the key is refused: milliseconds since the epoch.',
    },
    ...WORDS_MEMBERS,
  },
  ['name'],
);

export const ADMIN_KEY_ENDPOINTS: Endpoints = {
  'GET /apiKeys': {
    summary: 'List the API keys, without their secrets',
    answer: answerList('AdminKey'),
    isReadAnew: true,
    read: at('nothing', { reach: 'everything' }, async ({ db }) => allAdminKeys(db)),
  },
  'POST /apiKeys': {
    summary: 'Create an API key; its text is in this answer and nowhere else',
    answer: answer('AdminKey'),
    body: NEW_KEY_BODY,
    // The answer has the text of the key, which no later request can read again.
    write: at('nothing', { reach: 'everything' }, async ({ db, caller, body }) => {
      const given = body as GivenKey;
      const { workspace, workspaces = [], environments } = given;
      const named = workspace === undefined ? workspaces : [workspace, ...workspaces];
      const isAdmin = (given.apiKeyType ?? 'admin') === 'admin';
      if (isAdmin && given.roles?.some((role) => role !== 'API_ALL_GRANTED') === true) {
        throw badRequest('An Admin API key has no role but API_ALL_GRANTED here');
      }
      return addAdminKey(db, caller, {
        name: given.name,
        apiKeyType: given.apiKeyType,
        workspaces: named.length === 0 ? undefined : named.map(idOf),
        environments: environments?.map(idOf),
        expirationTime: given.expirationTime ?? undefined,
      });
    }),
  },
  'DELETE /apiKeys/:key': {
    summary: 'Revoke an API key',
    answer: answer('True'),
    write: at('nothing', { reach: 'everything' }, async ({ db, caller, params }) => {
      await removeAdminKey(db, caller, params['key'] ?? '');
      return true;
    }),
  },
};

type Reference = string | { readonly id: string };

interface GivenKey {
  readonly name: string;
  readonly apiKeyType?: NewKey['apiKeyType'];
  readonly roles?: readonly string[] | null;
  readonly workspace?: Reference;
  readonly workspaces?: readonly Reference[];
  readonly environments?: readonly Reference[];
  readonly expirationTime?: number | null;
}

function idOf(reference: Reference): string {
  return typeof reference === 'string' ? reference : reference.id;
}

const AUDIT_QUERY: QuerySchema = {
  ...PAGE_QUERY,
  object: textParameter('`KIND/NAME`, or a name.'),
  environment: textParameter('Id or name.'),
};

/** The log contains changes in all environments, so a key that is restricted to environments does not read it. */
export const AUDIT_ENDPOINTS: Endpoints = {
  'GET /auditLog/ws/:ws': {
    summary: 'List the changes that were made, the newest first',
    answer: answerPage('AuditEntry'),
    query: AUDIT_QUERY,
    read: at('workspace', { reach: 'workspace' }, async (work) =>
      readAudit(work, { workspaceId: work.workspace.id }),
    ),
  },
  'GET /auditLog': {
    summary: 'List the changes that were made anywhere, the newest first',
    answer: answerPage('AuditEntry'),
    query: AUDIT_QUERY,
    read: at('nothing', { reach: 'everything' }, async (work) => readAudit(work, {})),
  },
};

async function readAudit({ db, query }: Work<'nothing'>, own: AuditFilter) {
  const page = pageFrom(query, 'keys');
  const environment = givenText(query['environment']);
  const filter = {
    ...own,
    ...(environment !== undefined && { environment }),
    ...objectNamed(givenText(query['object']) ?? ''),
  };
  return pageOf(page, await listAudit(db, filter, page), (entry) => entry);
}

/** `KIND/NAME`, or a name alone that may be of any kind. An empty text is no filter. */
export function objectNamed(object: string): Pick<AuditFilter, 'kind' | 'name'> {
  const [first = '', ...rest] = object.split('/');
  if (rest.length > 0) return { kind: first, name: rest.join('/') };
  return first === '' ? {} : { name: first };
}
