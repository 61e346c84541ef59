/**
 * Endpoints of identities: keys with attributes, for one traffic type in one environment. The contract has no operation
 * that reads identities, and neither has this service.
 */

import {
  MAX_KEYS_PER_REQUEST,
  type WireIdentitiesResult,
  type WireIdentity,
} from '../../admin-api/wire.js';
import { recordChange, recordChanges, written, differenceOf, type Change } from '../change-log.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, type Places, type Work } from '../http/place.js';
import { badRequest, notFound } from '../http/problem.js';
import { partsOf } from '../parts.js';
import {
  IDENTITY_SCHEMA,
  IDENTITY_VALUES_SCHEMA,
  readIdentity,
  type GivenIdentity,
  type ReadIdentity,
} from '../rules/keys.js';
import {
  deleteIdentity,
  findIdentities,
  saveIdentities,
  type IdentityPlace,
  type IdentityValues,
} from '../store/identities.js';
import { answer } from './answer-schemas.js';

const PATH = '/trafficTypes/:trafficType/environments/:env/identities';

/** PATCH keeps attributes that are not sent; PUT removes them. */
export const IDENTITY_ENDPOINTS: Endpoints = {
  [`POST ${PATH}`]: {
    contract: { body: { type: 'array', items: IDENTITY_SCHEMA } },
    summary: 'Create or update identities',
    takesMany: true,
    answer: answer('SavedIdentities'),
    body: { type: 'array', items: IDENTITY_SCHEMA },
    write: at('identities', {}, saveMany),
  },
  [`PUT ${PATH}/:key`]: {
    summary: 'Create an identity or replace its attributes',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: at('identities', {}, async (work) => saveOne(work, false)),
  },
  [`PATCH ${PATH}/:key`]: {
    summary: 'Create an identity or change some of its attributes',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: at('identities', {}, async (work) => saveOne(work, true)),
  },
  [`POST ${PATH}/:key/patch`]: {
    summary: 'The same, as older clients ask for it',
    answer: answer('Identity'),
    body: IDENTITY_VALUES_SCHEMA,
    write: at('identities', {}, async (work) => saveOne(work, true)),
  },
  [`DELETE ${PATH}/:key`]: {
    summary: 'Delete an identity',
    answer: answer('True'),
    write: at('identities', {}, removeIdentity),
  },
};

const IDENTITIES_AT_ONCE = 100;

/**
 * Saves each identity by itself: the ones that are not valid are listed under `failed` with the reason, and the others
 * are saved. Attributes that are not sent stay as they are.
 */
async function saveMany(work: Work<'identities'>): Promise<WireIdentitiesResult> {
  const given = work.body as GivenIdentity[];
  if (given.length > MAX_KEYS_PER_REQUEST) {
    throw badRequest(
      `${given.length} identities, the limit is ${MAX_KEYS_PER_REQUEST} at one time`,
    );
  }
  const objects: WireIdentity[] = [];
  const failed: WireIdentitiesResult['failed'] = [];
  for await (const part of partsOf(given, IDENTITIES_AT_ONCE)) {
    const taken: ReadIdentity[] = [];
    for (const identity of part) {
      const read = readIdentity(identity, idsOf(work));
      if ('failure' in read) failed.push({ object: identity, status: 400, message: read.failure });
      else taken.push(read);
    }
    objects.push(...(await save(work, taken)));
  }
  return { objects, failed, metadata: null, offset: null, limit: null, count: null, total: null };
}

async function saveOne(work: Work<'identities'>, keepOthers: boolean): Promise<WireIdentity> {
  const key = work.params['key'] ?? '';
  const given = { key, ...(work.body as Partial<GivenIdentity>) };
  const read = readIdentity(given, { ...idsOf(work), key });
  if ('failure' in read) throw badRequest(read.failure);
  const [saved] = await save(work, [read], keepOthers);
  return written(saved);
}

/** Segments with the key keep it, because keys need no identity. */
async function removeIdentity(work: Work<'identities'>): Promise<true> {
  const { db, environment, trafficType } = work;
  const key = work.params['key'] ?? '';
  const before = (await findIdentities(db, idsOf(work), [key])).get(key);
  if (before === undefined) throw notFound('identity', key);
  await deleteIdentity(db, environment.id, trafficType.id, key);
  const difference = differenceOf({ values: before }, null);
  await recordChange(work, { kind: 'identity', name: key, action: 'delete', difference });
  return true;
}

/**
 * A key may occur more than once. With `keepOthers`, attributes that are not sent stay as they are. Identities that do
 * not change get no entry in the audit log.
 *
 * @returns each identity as it was after its own turn.
 */
async function save(
  work: Work<'identities'>,
  sent: readonly ReadIdentity[],
  keepOthers = true,
): Promise<WireIdentity[]> {
  const { db } = work;
  const keys = sent.map(({ key }) => key);
  const current = await findIdentities(db, idsOf(work), keys);
  const changes: Change[] = [];
  const answers: WireIdentity[] = [];
  for (const { key, values: given } of sent) {
    const before = current.get(key);
    const values = keepOthers ? { ...before, ...given } : { ...given };
    current.set(key, values);
    answers.push(wireIdentity(work, key, values));
    changes.push({
      kind: 'identity',
      name: key,
      action: before === undefined ? 'create' : 'update',
      difference: differenceOf(before === undefined ? null : { values: before }, { values }),
    });
  }
  await saveIdentities(db, idsOf(work), current);
  await recordChanges(work, changes);
  return answers;
}

function idsOf({ environment, trafficType }: Places['identities']): IdentityPlace {
  return { environmentId: environment.id, trafficTypeId: trafficType.id };
}

/** With the members that public samples show beside those of the contract. */
function wireIdentity(
  place: Places['identities'],
  key: string,
  values: IdentityValues,
): WireIdentity & IdentityPlace {
  return { key, ...idsOf(place), values: { ...values } };
}
