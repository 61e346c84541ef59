/**
 * Endpoints of identities: keys with attributes, for one traffic type in one environment. The contract has no operation
 * that reads identities, and neither has this service.
 */

import {
  MAX_KEYS_PER_REQUEST,
  type WireIdentitiesResult,
  type WireIdentity,
} from '../../admin-api/wire.js';
import { differenceOf, recordChange, recordChanges, written, type Change } from '../change-log.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, type Places, type Work } from '../http/place.js';
import { badRequest, notFound } from '../http/problem.js';
import { partsOf } from '../parts.js';
import { MAX_KEY_LENGTH } from '../rules/keys.js';
import { WORDS_MEMBERS } from '../rules/members.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  deleteIdentity,
  findIdentities,
  saveIdentities,
  type Identity,
  type IdentityPlace,
} from '../store/identities.js';
import { answer } from './answer-schemas.js';

const MAX_VALUE_LENGTH = 10_000;

export const ATTRIBUTE_NAME = '^[A-Za-z][-_A-Za-z0-9]{0,199}$';
const ATTRIBUTE = new RegExp(ATTRIBUTE_NAME);

/** Clients send back everything that they read: traffic type and environment must be those of the path. */
const MEMBERS: Readonly<Record<string, Schema>> = {
  key: { type: 'string' },
  values: { type: 'object' },
  trafficTypeId: { type: 'string' },
  environmentId: { type: 'string' },
  organizationId: { type: ['string', 'null'] },
};

const IDENTITIES_BODY: Schema = { type: 'array', items: closed(MEMBERS, ['key']) };

const VALUES_BODY: Schema = closed({
  ...MEMBERS,
  values: {
    type: 'object',
    propertyNames: { pattern: ATTRIBUTE_NAME },
    additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: MAX_VALUE_LENGTH },
  },
  ...WORDS_MEMBERS,
});

const PATH = '/trafficTypes/:trafficType/environments/:env/identities';

/** PATCH keeps attributes that are not sent; PUT removes them. */
export const IDENTITY_ENDPOINTS: Endpoints = {
  [`POST ${PATH}`]: {
    contract: { body: IDENTITIES_BODY },
    summary: 'Create or update identities',
    takesMany: true,
    answer: answer('SavedIdentities'),
    body: IDENTITIES_BODY,
    // Saves each identity by itself: those that are not valid are listed under `failed` with the reason.
    write: at('identities', {}, async (work) => {
      const given = work.body as Given[];
      if (given.length > MAX_KEYS_PER_REQUEST) {
        const limit = `the limit is ${MAX_KEYS_PER_REQUEST} at one time`;
        throw badRequest(`${given.length} identities, ${limit}`);
      }
      const objects: WireIdentity[] = [];
      const failed: WireIdentitiesResult['failed'] = [];
      for await (const part of partsOf(given, IDENTITIES_AT_ONCE)) {
        const taken: Identity[] = [];
        for (const object of part) {
          const identity = identityFrom(object, placeOf(work));
          if (typeof identity !== 'string') taken.push(identity);
          else failed.push({ object, status: 400, message: identity });
        }
        objects.push(...(await save(work, taken, { keepOthers: true })));
      }
      const none = { metadata: null, offset: null, limit: null, count: null, total: null };
      return { objects, failed, ...none };
    }),
  },
  [`PUT ${PATH}/:key`]: {
    summary: 'Create an identity or replace its attributes',
    answer: answer('Identity'),
    body: VALUES_BODY,
    write: at('identities', {}, async (work) => saveOne(work, { keepOthers: false })),
  },
  [`PATCH ${PATH}/:key`]: {
    summary: 'Create an identity or change some of its attributes',
    answer: answer('Identity'),
    body: VALUES_BODY,
    write: at('identities', {}, async (work) => saveOne(work, { keepOthers: true })),
  },
  [`POST ${PATH}/:key/patch`]: {
    summary: 'The same, as older clients ask for it',
    answer: answer('Identity'),
    body: VALUES_BODY,
    write: at('identities', {}, async (work) => saveOne(work, { keepOthers: true })),
  },
  [`DELETE ${PATH}/:key`]: {
    summary: 'Delete an identity',
    answer: answer('True'),
    // Segments with the key keep it, because keys need no identity.
    write: at('identities', {}, async (work) => {
      const { db, environment, trafficType } = work;
      const key = work.params['key'] ?? '';
      const before = (await findIdentities(db, placeOf(work), [key])).get(key);
      if (before === undefined) throw notFound('identity', key);
      await deleteIdentity(db, environment.id, trafficType.id, key);
      const difference = differenceOf({ values: before }, null);
      await recordChange(work, { kind: 'identity', name: key, action: 'delete', difference });
      return true;
    }),
  },
};

interface Given extends Partial<IdentityPlace> {
  readonly key: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** @returns the reason as a text if the identity cannot be saved. */
function identityFrom(
  { key, values = {}, ...place }: Given,
  own: IdentityPlace,
): Identity | string {
  for (const name of ['trafficTypeId', 'environmentId'] as const) {
    if ((place[name] ?? own[name]) !== own[name]) return `${name} is not that of the path`;
  }
  if (key === '') return 'The key is empty';
  if (key.length > MAX_KEY_LENGTH) return 'The key cannot be stored';
  const texts: Record<string, string> = {};
  for (const [attribute, value] of Object.entries(values)) {
    if (!ATTRIBUTE.test(attribute)) return `The attribute ${attribute} is no name of an attribute`;
    const isText = ['string', 'number', 'boolean'].includes(typeof value);
    texts[attribute] = String(value);
    if (!isText || texts[attribute].length > MAX_VALUE_LENGTH) {
      return `The value of ${attribute} is no text or number`;
    }
  }
  return { key, values: texts };
}

const IDENTITIES_AT_ONCE = 100;

interface Saving {
  /** Attributes that are not sent stay as they are. */
  readonly keepOthers: boolean;
}

async function saveOne(work: Work<'identities'>, saving: Saving): Promise<WireIdentity> {
  const key = work.params['key'] ?? '';
  const given = { key, ...(work.body as Partial<Given>) };
  if (given.key !== key) throw badRequest('key is not that of the path');
  const identity = identityFrom(given, placeOf(work));
  if (typeof identity === 'string') throw badRequest(identity);
  return written((await save(work, [identity], saving))[0]);
}

/**
 * A key may occur more than once.
 *
 * @returns each identity as it was after its own turn, with the members that public samples show beside the contract's.
 */
async function save(
  work: Work<'identities'>,
  sent: readonly Identity[],
  { keepOthers }: Saving,
): Promise<WireIdentity[]> {
  const { db } = work;
  const place = placeOf(work);
  const current = await findIdentities(
    db,
    place,
    sent.map(({ key }) => key),
  );
  const changes: Change[] = [];
  const answers: WireIdentity[] = [];
  for (const { key, values: given } of sent) {
    const before = current.get(key);
    const values = keepOthers ? { ...before, ...given } : given;
    current.set(key, values);
    answers.push({ key, ...place, values });
    changes.push({
      kind: 'identity',
      name: key,
      action: before === undefined ? 'create' : 'update',
      difference: differenceOf(before === undefined ? null : { values: before }, { values }),
    });
  }
  await saveIdentities(db, place, current);
  await recordChanges(work, changes);
  return answers;
}

function placeOf({ environment, trafficType }: Places['identities']): IdentityPlace {
  return { environmentId: environment.id, trafficTypeId: trafficType.id };
}
