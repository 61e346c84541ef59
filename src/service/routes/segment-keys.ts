import type {
  WireRemoveKeysResult,
  WireSegmentDefinition,
  WireSegmentKeys,
} from '../../api/wire.js';
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import {
  activationAt,
  checkNoApproval,
  checkWordsFor,
  environmentOfSegment,
  type EnvironmentPlace,
} from '../places.js';
import { keysDifference } from '../rules/difference.js';
import { checkSegmentSize, keysToAdd, keysToRemove, wantsReplacement } from '../rules/keys.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import type { WordsNeeded } from '../rules/words.js';
import type { AuditAction } from '../store/audit.js';
import { addKeys, allKeys, presentKeys, removeKeys } from '../store/key-sets.js';
import {
  findActivation,
  listKeys,
  touchActivation,
  wireSegmentDefinition,
  type StoredActivation,
} from '../store/segments.js';
import type { Store } from '../store/store.js';
import type { Db } from '../store/tables.js';
import { KEYS_ARRAY_BODY, KEYS_BODY, KEYS_OBJECT_BODY } from './body-schemas.js';
import { answer } from './answer-schemas.js';
import { PAGE_QUERY, UPLOAD_QUERY } from './query-schemas.js';

const PATH = '/segments/:env/:segment';

export const SEGMENT_KEY_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: `${PATH}/keys`,
    inContract: true,
    summary: 'List the keys of a segment in an environment',
    answer: answer('SegmentKeys'),
    query: PAGE_QUERY,
    read: readKeys,
  },
  {
    methods: ['PUT'],
    path: `${PATH}/upload`,
    inContract: true,
    summary: 'Add keys to a segment in an environment, as JSON or as a file',
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    body: KEYS_BODY,
    takesFile: true,
    write: async (db, request, store) => upload(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/removeKeys`,
    inContract: true,
    summary: 'Remove keys from a segment in an environment',
    answer: answer('RemovedKeys'),
    body: KEYS_OBJECT_BODY,
    write: async (db, request, store) => remove(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/uploadKeys`,
    inContract: false,
    summary: 'Add keys to a segment in an environment, or replace all of them',
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    body: KEYS_OBJECT_BODY,
    write: async (db, request, store) => upload(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/deleteKeys`,
    inContract: false,
    summary: 'Remove keys from a segment in an environment',
    answer: answer('RemovedKeys'),
    body: KEYS_ARRAY_BODY,
    write: async (db, request, store) => remove(db, request, store, keysOf(request)),
  },
];

function keysOf({ body }: ApiRequest): string[] {
  return Array.isArray(body) ? (body as string[]) : (body as { keys: string[] }).keys;
}

async function readKeys(db: Db, request: ApiRequest): Promise<WireSegmentKeys> {
  const { environment } = await environmentOfSegment(db, request);
  const activation = await activationAt(db, request, environment);
  const page = pageFrom(request.query, PAGE_SIZES.keys);
  const keys = await listKeys(db, activation.activation_id, page);
  return {
    keys: keys.map((key) => ({ key })),
    openChangeRequestId: null,
    count: activation.key_count,
    ...page,
  };
}

async function segmentToChange(
  db: Db,
  request: ApiRequest,
  needed: WordsNeeded,
): Promise<EnvironmentPlace & { activation: StoredActivation }> {
  const place = await environmentOfSegment(db, request);
  checkWordsFor(place.workspace, request, needed);
  checkNoApproval(place.environment);
  return { ...place, activation: await activationAt(db, request, place.environment) };
}

/** Appends; with `?replace` the keys that were not sent go. */
async function upload(
  db: Db,
  request: ApiRequest,
  store: Store,
  given: readonly string[],
): Promise<WireSegmentDefinition> {
  const place = await segmentToChange(db, request, 'both');
  const { activation } = place;
  const keys = keysToAdd(given);
  const present = await presentKeys(db, store.dialect, activation.activation_id, keys);
  const added = keys.filter((key) => !present.has(key));
  const removed = wantsReplacement(request.query)
    ? without(await allKeys(db, activation.activation_id), new Set(keys))
    : [];
  await removeKeys(db, store.dialect, activation.activation_id, removed);
  await addKeys(db, store.dialect, activation.activation_id, added);
  const action = removed.length > 0 ? 'replace-keys' : 'add-keys';
  return wireSegmentDefinition(await changed(db, request, place, { action, added, removed }));
}

function without(keys: readonly string[], others: ReadonlySet<string>): string[] {
  return keys.filter((key) => !others.has(key));
}

async function remove(
  db: Db,
  request: ApiRequest,
  store: Store,
  given: readonly string[],
): Promise<WireRemoveKeysResult> {
  const place = await segmentToChange(db, request, 'comment');
  const { activation_id } = place.activation;
  const keys = keysToRemove(given);
  const present = await presentKeys(db, store.dialect, activation_id, keys);
  const removed = keys.filter((key) => present.has(key));
  await removeKeys(db, store.dialect, activation_id, removed);
  await changed(db, request, place, { action: 'remove-keys', added: [], removed });
  return {
    code: 200,
    message: `Deleted ${removed.length} keys`,
    details: null,
    transactionId: null,
  };
}

/** Notes the new count and the change; without a change, nothing. */
async function changed(
  db: Db,
  request: ApiRequest,
  { workspace, environment, activation }: EnvironmentPlace & { activation: StoredActivation },
  { action, added, removed }: { action: AuditAction; added: string[]; removed: string[] },
): Promise<StoredActivation> {
  const keyCount = activation.key_count + added.length - removed.length;
  checkSegmentSize(keyCount);
  if (added.length === 0 && removed.length === 0) return activation;
  const now = Math.max(request.caller.now, activation.last_update_time + 1);
  await touchActivation(db, activation.activation_id, { keyCount, now });
  await recordChange(db, request.caller, {
    kind: 'segment',
    name: activation.name,
    action,
    workspaceId: workspace.id,
    environment,
    difference: [keysDifference(added, removed)],
  });
  return (await findActivation(db, environment.id, activation.name)) ?? activation;
}
