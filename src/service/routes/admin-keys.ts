import { addAdminKey, allAdminKeys, removeAdminKey, type AdminKey } from '../admin-keys.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import { checkUnrestricted } from '../places.js';
import { badRequest } from '../problem.js';
import type { Schema } from '../rules/matchers.js';
import type { Db } from '../store/tables.js';
import { answer, answerList } from './answer-schemas.js';

/** An id or a name, or a reference as some clients write it. */
const REFERENCE: Schema = {
  anyOf: [
    { type: 'string' },
    { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  ],
};

const NEW_KEY_BODY: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    apiKeyType: { type: 'string', description: 'Only `admin` is made here.' },
    workspace: REFERENCE,
    workspaces: { type: 'array', items: REFERENCE },
    environments: { type: 'array', items: REFERENCE },
  },
};

export const ADMIN_KEY_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: '/apiKeys',
    inContract: false,
    summary: 'List the Admin API keys, without their secrets',
    answer: answerList('AdminKey'),
    read: async (db, request) => {
      checkUnrestricted(request);
      return (await allAdminKeys(db)).map(wireKey);
    },
  },
  {
    methods: ['POST'],
    path: '/apiKeys',
    inContract: false,
    summary: 'Create an Admin API key; its text is in this answer and nowhere else',
    answer: answer('AdminKey'),
    body: NEW_KEY_BODY,
    write: createKey,
  },
  {
    methods: ['DELETE'],
    path: '/apiKeys/:key',
    inContract: false,
    summary: 'Revoke an Admin API key',
    answer: answer('True'),
    write: async (db, request) => {
      checkUnrestricted(request);
      await removeAdminKey(db, request.caller, request.params['key'] ?? '');
      return true;
    },
  },
];

type Reference = string | { readonly id: string };

async function createKey(db: Db, request: ApiRequest): Promise<object> {
  checkUnrestricted(request);
  const body = request.body as {
    readonly name: string;
    readonly apiKeyType?: string;
    readonly workspace?: Reference;
    readonly workspaces?: readonly Reference[];
    readonly environments?: readonly Reference[];
  };
  if ((body.apiKeyType ?? 'admin') !== 'admin') throw badRequest('apiKeyType must be admin');
  const workspaces = [...(body.workspaces ?? []), ...(body.workspace ? [body.workspace] : [])];
  const { key, ...created } = await addAdminKey(db, request.caller, {
    name: body.name,
    workspaces: workspaces.map(idOf),
    environments: (body.environments ?? []).map(idOf),
  });
  return { ...wireKey(created), key };
}

function idOf(reference: Reference): string {
  return typeof reference === 'string' ? reference : reference.id;
}

function wireKey(key: AdminKey): AdminKey & { readonly apiKeyType: 'admin' } {
  return { ...key, apiKeyType: 'admin' };
}
