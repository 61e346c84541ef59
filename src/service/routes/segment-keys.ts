/**
 * Endpoints of the keys of a segment in one environment. The contract mentions an upload of CSV files but not its
 * endpoint; here `upload` takes a form with such a file.
 */

import type {
  WireRemoveKeysResult,
  WireSegmentDefinition,
  WireSegmentKeys,
} from '../../admin-api/wire.js';
import { recordChange, keysDifference } from '../change-log.js';
import type { ApiRequest, Endpoints } from '../http/endpoint.js';
import { at, type Demands, type Work } from '../http/place.js';
import {
  checkSegmentSize,
  keysToRemove,
  keysToUpload,
  wantsReplacement,
  KEY_SCHEMA,
  type ChangedKeys,
} from '../rules/keys.js';
import {
  PAGE_SIZES,
  pageFrom,
  PAGE_QUERY,
  textParameter,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import type { AuditAction } from '../store/tables.js';
import { addKeys, listKeys, noteKeyChange, removeKeys, replaceKeys } from '../store/keys.js';
import {
  findActivation,
  touchActivation,
  wireSegmentDefinition,
  type StoredActivation,
} from '../store/segments.js';
import { closed, type Schema } from '../rules/shape.js';
import { answer } from './answer-schemas.js';

/** The path holds the name of the segment; segments have no id in the contract. */
const PATH = '/segments/:env/:segment';

const ANY_KEYS: Schema = { type: 'array', items: { type: 'string' } };

/** The contract's body of an upload. Its keys have to be valid; a removal ignores keys that no segment can hold. */
const VALID_KEYS: Schema = { type: 'array', items: KEY_SCHEMA };

const withWords = (keys: Schema) => closed({ keys, ...WORDS_MEMBERS }, ['keys']);

/** Without `replace` an upload adds keys. That an upload may replace them follows public documentation. */
const UPLOAD_QUERY: QuerySchema = {
  replace: {
    ...textParameter('`true`, in any case, or empty: keys that are not sent are removed.'),
    pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])?$',
  },
};

const CHANGE: Demands = { note: 'both', approval: true, unrequested: true };

export const uploadKeys = at('activation', CHANGE, addGiven);
/** The contract's body of a removal has no place for a title. */
export const removeKeysOf = at('activation', { ...CHANGE, note: 'comment' }, removeGiven);

/** The contract's three first, then the other names of two of them. */
export const SEGMENT_KEY_ENDPOINTS: Endpoints = {
  [`GET ${PATH}/keys`]: {
    contract: { query: PAGE_QUERY },
    summary: 'List the keys of a segment in an environment',
    answer: answer('SegmentKeys'),
    query: PAGE_QUERY,
    read: at('activation', {}, readKeys),
  },
  [`PUT ${PATH}/upload`]: {
    contract: { body: VALID_KEYS },
    summary: 'Add keys to a segment in an environment, as JSON or as a file',
    takesMany: true,
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    // Clients are known to send an upload in either form.
    body: { ...withWords(VALID_KEYS), type: ['array', 'object'], items: KEY_SCHEMA },
    takesFile: true,
    write: uploadKeys,
  },
  [`PUT ${PATH}/removeKeys`]: {
    contract: { body: closed({ keys: ANY_KEYS, comment: { type: 'string' } }, ['keys']) },
    summary: 'Remove keys from a segment in an environment',
    takesMany: true,
    answer: answer('RemovedKeys'),
    body: withWords(ANY_KEYS),
    write: removeKeysOf,
  },
  [`PUT ${PATH}/uploadKeys`]: {
    summary: 'Add keys to a segment in an environment, or replace all of them',
    takesMany: true,
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    body: withWords(VALID_KEYS),
    write: uploadKeys,
  },
  [`PUT ${PATH}/deleteKeys`]: {
    summary: 'Remove keys from a segment in an environment',
    takesMany: true,
    answer: answer('RemovedKeys'),
    body: ANY_KEYS,
    write: removeKeysOf,
  },
};

function keysOf({ body }: ApiRequest): string[] {
  return Array.isArray(body) ? (body as string[]) : (body as { keys: string[] }).keys;
}

/** Sorted by their bytes; `count` is the number of keys of the whole segment. */
async function readKeys({ db, activation, query }: Work<'activation'>): Promise<WireSegmentKeys> {
  const page = pageFrom(query, PAGE_SIZES.keys);
  const keys = await listKeys(db, activation.activation_id, page);
  return {
    keys: keys.map((key) => ({ key })),
    openChangeRequestId: activation.open_change_request_id,
    count: activation.key_count,
    ...page,
  };
}

/** Keys that the segment already has are no error, so that an upload may be repeated. */
async function addGiven(work: Work<'activation'>): Promise<WireSegmentDefinition> {
  const keys = keysToUpload(keysOf(work));
  const { db, activation } = work;
  const { added, removed } = wantsReplacement(work.query)
    ? await replaceKeys(db, activation.activation_id, keys)
    : { added: await addKeys(db, activation.activation_id, keys), removed: [] };
  const action = removed.length > 0 ? 'replace-keys' : 'add-keys';
  return wireSegmentDefinition(await changed(work, { action, added, removed }));
}

/** Keys that the segment does not have are ignored, and not counted in the answer. */
async function removeGiven(work: Work<'activation'>): Promise<WireRemoveKeysResult> {
  const { db, activation } = work;
  const removed = await removeKeys(db, activation.activation_id, keysToRemove(keysOf(work)));
  await changed(work, { action: 'remove-keys', added: [], removed });
  return {
    code: 200,
    message: `Deleted ${removed.length} keys`,
    details: null,
    transactionId: null,
  };
}

/** Does nothing if no key was added or removed. */
async function changed(
  work: Work<'activation'>,
  { action, added, removed }: ChangedKeys & { action: AuditAction },
): Promise<StoredActivation> {
  const { db, environment, activation, caller } = work;
  const keyCount = activation.key_count + added.length - removed.length;
  // A refusal undoes the additions with the transaction.
  checkSegmentSize(keyCount);
  if (added.length === 0 && removed.length === 0) return activation;
  const now = Math.max(caller.now, activation.last_update_time + 1);
  await touchActivation(db, keyCount, now, activation.activation_id);
  const difference = [keysDifference(added, removed)];
  await recordChange(work, { kind: 'segment', name: activation.name, action, difference });
  await noteKeyChange(db, [environment.id, activation.name], { added, removed });
  return (await findActivation(db, environment.id, activation.name)) ?? activation;
}
