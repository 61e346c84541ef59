import {
  MAX_KEYS_PER_REQUEST,
  type WireIdentitiesResult,
  type WireIdentity,
} from '../../api/wire.js';
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import { environmentByItself, trafficTypeAt } from '../places.js';
import { badRequest, notFound } from '../problem.js';
import { differenceOf } from '../rules/difference.js';
import {
  IDENTITY_SCHEMA,
  IDENTITY_VALUES_SCHEMA,
  readIdentity,
  type GivenIdentity,
} from '../rules/identity.js';
import { deleteIdentity, findIdentity, saveIdentity } from '../store/identities.js';
import type { Db, EnvironmentRow, TrafficTypeRow } from '../store/tables.js';
import { findTrafficType } from '../store/workspaces.js';
import { answer } from './answer-schemas.js';

const PATH = '/trafficTypes/:trafficType/environments/:env/identities';

export const IDENTITY_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: PATH,
    inContract: true,
    summary: 'Create or update identities',
    answer: answer('SavedIdentities'),
    body: { type: 'array', items: IDENTITY_SCHEMA },
    write: saveIdentities,
  },
  {
    methods: ['PUT'],
    path: `${PATH}/:key`,
    inContract: false,
    summary: 'Create an identity or replace its attributes',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: async (db, request) => saveOne(db, request, { keepOthers: false }),
  },
  {
    methods: ['PATCH'],
    path: `${PATH}/:key`,
    inContract: false,
    summary: 'Create an identity or change some of its attributes',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: async (db, request) => saveOne(db, request, { keepOthers: true }),
  },
  {
    methods: ['POST'],
    path: `${PATH}/:key/patch`,
    inContract: false,
    summary: 'The same, as older clients ask for it',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: async (db, request) => saveOne(db, request, { keepOthers: true }),
  },
  {
    methods: ['DELETE'],
    path: `${PATH}/:key`,
    inContract: false,
    summary: 'Delete an identity',
    answer: answer('True'),
    write: removeIdentity,
  },
];

interface Place {
  readonly environment: EnvironmentRow;
  readonly trafficType: TrafficTypeRow;
}

async function placeOf(db: Db, request: ApiRequest): Promise<Place> {
  const { workspace, environment } = await environmentByItself(
    db,
    request,
    async (workspaceId) =>
      (await findTrafficType(db, workspaceId, request.params['trafficType'] ?? '')) !== undefined,
  );
  return { environment, trafficType: await trafficTypeAt(db, request, workspace.id) };
}

/** Each by itself: one that cannot be taken stands in `failed`, and the others are saved. */
async function saveIdentities(db: Db, request: ApiRequest): Promise<WireIdentitiesResult> {
  const place = await placeOf(db, request);
  const given = request.body as GivenIdentity[];
  if (given.length > MAX_KEYS_PER_REQUEST) {
    throw badRequest(
      `${given.length} identities, the limit is ${MAX_KEYS_PER_REQUEST} at one time`,
    );
  }
  const objects: WireIdentity[] = [];
  const failed: WireIdentitiesResult['failed'] = [];
  for (const identity of given) {
    const read = readIdentity(identity);
    if ('failure' in read) failed.push({ object: identity, status: 400, message: read.failure });
    else objects.push(await save(db, request, place, { key: identity.key, ...read }));
  }
  return { objects, failed, metadata: null, offset: null, limit: null, count: null, total: null };
}

async function saveOne(
  db: Db,
  request: ApiRequest,
  { keepOthers }: { readonly keepOthers: boolean },
): Promise<WireIdentity> {
  const place = await placeOf(db, request);
  const key = request.params['key'] ?? '';
  const read = readIdentity({ ...(request.body as GivenIdentity), key });
  if ('failure' in read) throw badRequest(read.failure);
  return save(db, request, place, { key, values: read.values, keepOthers });
}

async function removeIdentity(db: Db, request: ApiRequest): Promise<true> {
  const { environment, trafficType } = await placeOf(db, request);
  const key = request.params['key'] ?? '';
  const place = { trafficTypeId: trafficType.id, environmentId: environment.id, key };
  const before = await findIdentity(db, place);
  if (before === undefined) throw notFound('identity', key);
  await deleteIdentity(db, place);
  await recordChange(db, request.caller, {
    kind: 'identity',
    name: key,
    action: 'delete',
    workspaceId: environment.workspace_id,
    environment,
    difference: differenceOf({ values: before }, null),
  });
  return true;
}

interface SentIdentity {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
  /** Default: attributes that are not sent stay as they are. */
  readonly keepOthers?: boolean;
}

async function save(
  db: Db,
  { caller }: ApiRequest,
  { environment, trafficType }: Place,
  { key, values: sent, keepOthers = true }: SentIdentity,
): Promise<WireIdentity> {
  const place = { trafficTypeId: trafficType.id, environmentId: environment.id, key };
  const before = await findIdentity(db, place);
  const values = keepOthers ? { ...before, ...sent } : { ...sent };
  await saveIdentity(db, place, values);
  await recordChange(db, caller, {
    kind: 'identity',
    name: key,
    action: before === undefined ? 'create' : 'update',
    workspaceId: environment.workspace_id,
    environment,
    difference: differenceOf(before === undefined ? null : { values: before }, { values }),
  });
  return wireIdentity(place, values);
}

/** With the members that public samples show beside those of the contract. */
function wireIdentity(
  {
    key,
    trafficTypeId,
    environmentId,
  }: { key: string; trafficTypeId: string; environmentId: string },
  values: Record<string, string>,
): WireIdentity & { trafficTypeId: string; environmentId: string } {
  return { key, trafficTypeId, environmentId, values };
}
