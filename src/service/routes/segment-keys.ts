/**
 * Endpoints of the keys of a segment in one environment.
 *
 * The contract shows list, upload and removal, under a path that names the environment without a workspace.
 * `uploadKeys` and `deleteKeys` are other names of the last two, which clients of such services are known to use; a
 * strict service does not have them.
 *
 * Rules of the contract: a segment must be activated in the environment first; one upload has at most 10,000 keys and a
 * segment at most 100,000; keys need no identity; a removal answers `code` 200 with a message that reports the number
 * of deleted keys. The contract mentions an upload of CSV files but not its endpoint; here `upload` takes a form with
 * such a file.
 */

import type {
  WireRemoveKeysResult,
  WireSegmentDefinition,
  WireSegmentKeys,
} from '../../admin-api/wire.js';
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../http/endpoint.js';
import {
  activationAt,
  checkNoApproval,
  checkNotRequested,
  checkNoteFor,
  environmentOfSegment,
  type EnvironmentPath,
} from '../http/path-lookup.js';
import { keysDifference } from '../rules/difference.js';
import { checkSegmentSize, keysToAdd, keysToRemove, wantsReplacement } from '../rules/keys.js';
import { partsOf } from '../parts.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import type { NoteRequirement } from '../rules/note.js';
import type { AuditAction } from '../store/audit.js';
import { addKeys, allKeys, presentKeys, removeAllKeys, removeKeys } from '../store/keys.js';
import {
  findActivation,
  listKeys,
  touchActivation,
  wireSegmentDefinition,
  type StoredActivation,
} from '../store/segments.js';
import type { Store } from '../store/store.js';
import type { Db } from '../store/tables.js';
import {
  CONTRACT_REMOVAL_BODY,
  CONTRACT_UPLOAD_BODY,
  KEYS_ARRAY_BODY,
  KEYS_OBJECT_BODY,
  UPLOAD_BODY,
  UPLOAD_OBJECT_BODY,
} from './body-schemas.js';
import { answer } from './answer-schemas.js';
import { PAGE_QUERY, UPLOAD_QUERY } from './query-schemas.js';

/** The path holds the name of the segment; segments have no id in the contract. */
const PATH = '/segments/:env/:segment';

/** The contract's three first, then the other names of two of them. */
export const SEGMENT_KEY_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: `${PATH}/keys`,
    contract: { query: PAGE_QUERY },
    summary: 'List the keys of a segment in an environment',
    answer: answer('SegmentKeys'),
    query: PAGE_QUERY,
    read: readKeys,
  },
  {
    methods: ['PUT'],
    path: `${PATH}/upload`,
    contract: { body: CONTRACT_UPLOAD_BODY },
    summary: 'Add keys to a segment in an environment, as JSON or as a file',
    takesMany: true,
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    body: UPLOAD_BODY,
    takesFile: true,
    write: async (db, request, store) => uploadKeys(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/removeKeys`,
    contract: { body: CONTRACT_REMOVAL_BODY },
    summary: 'Remove keys from a segment in an environment',
    takesMany: true,
    answer: answer('RemovedKeys'),
    body: KEYS_OBJECT_BODY,
    write: async (db, request, store) => removeGivenKeys(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/uploadKeys`,
    summary: 'Add keys to a segment in an environment, or replace all of them',
    takesMany: true,
    answer: answer('SegmentDefinition'),
    query: UPLOAD_QUERY,
    body: UPLOAD_OBJECT_BODY,
    write: async (db, request, store) => uploadKeys(db, request, store, keysOf(request)),
  },
  {
    methods: ['PUT'],
    path: `${PATH}/deleteKeys`,
    summary: 'Remove keys from a segment in an environment',
    takesMany: true,
    answer: answer('RemovedKeys'),
    body: KEYS_ARRAY_BODY,
    write: async (db, request, store) => removeGivenKeys(db, request, store, keysOf(request)),
  },
];

/** Keys of either form of body, a list or an object with `keys`. */
function keysOf({ body }: ApiRequest): string[] {
  return Array.isArray(body) ? (body as string[]) : (body as { keys: string[] }).keys;
}

/** One page of keys, sorted by their bytes; `count` is the number of keys of the whole segment. */
async function readKeys(db: Db, request: ApiRequest): Promise<WireSegmentKeys> {
  const { environment } = await environmentOfSegment(db, request);
  const activation = await activationAt(db, request, environment);
  const page = pageFrom(request.query, PAGE_SIZES.keys);
  const keys = await listKeys(db, activation.activation_id, page);
  return {
    keys: keys.map((key) => ({ key })),
    openChangeRequestId: activation.open_change_request_id,
    count: activation.key_count,
    ...page,
  };
}

/**
 * Looks up the segment of a change of keys, and makes sure that the caller may make it.
 *
 * @throws Problem (404) the segment is not active in the environment.
 * @throws Problem (400) the workspace requires title or comment, and it is missing.
 * @throws Problem (403) the environment requires approvals.
 * @throws Problem (423) a change request for the keys is open.
 */
async function segmentToChange(
  db: Db,
  request: ApiRequest,
  needed: NoteRequirement,
): Promise<EnvironmentPath & { activation: StoredActivation }> {
  const place = await environmentOfSegment(db, request);
  checkNoteFor(place.workspace, request, needed);
  checkNoApproval(place.environment, request);
  const activation = await activationAt(db, request, place.environment);
  checkNotRequested(activation, request);
  return { ...place, activation };
}

/**
 * Adds keys, and with `?replace` removes all others. Keys that the segment already has are no error, so that an upload
 * may be repeated.
 *
 * @throws Problem (400) too many keys, or a key that cannot be stored.
 */
export async function uploadKeys(
  db: Db,
  request: ApiRequest,
  store: Store,
  given: readonly string[],
): Promise<WireSegmentDefinition> {
  const place = await segmentToChange(db, request, 'both');
  const keys = keysToAdd(given);
  const { added, removed } = wantsReplacement(request.query)
    ? await replaceKeys(db, store, place.activation, keys)
    : await addMissing(db, store, place.activation, keys);
  const action = removed.length > 0 ? 'replace-keys' : 'add-keys';
  return wireSegmentDefinition(await changed(db, request, place, { action, added, removed }));
}

interface ChangedKeys {
  readonly added: string[];
  readonly removed: string[];
}

async function addMissing(
  db: Db,
  store: Store,
  activation: StoredActivation,
  keys: readonly string[],
): Promise<ChangedKeys> {
  const present = await presentOf(db, store, activation, keys);
  const added = keys.filter((key) => !present.has(key));
  await addAll(db, store, activation, added);
  return { added, removed: [] };
}

/**
 * Removing one key takes about as long as adding this many to an empty segment. If much is removed, it is faster to
 * empty the segment and add everything again.
 */
const REMOVAL_IN_ADDITIONS = 6;

/** Replaces all keys of a segment. */
async function replaceKeys(
  db: Db,
  store: Store,
  activation: StoredActivation,
  keys: readonly string[],
): Promise<ChangedKeys> {
  const before = await allKeys(db, store.dialect, activation.activation_id);
  const removed = without(before, new Set(keys));
  const added = removed.length === before.length ? [...keys] : without(keys, new Set(before));
  if (removed.length * REMOVAL_IN_ADDITIONS > keys.length) {
    await removeAllKeys(db, activation.activation_id);
    await addAll(db, store, activation, keys);
  } else {
    for await (const part of partsOf(removed, KEYS_AT_ONCE)) {
      await removeKeys(db, store.dialect, activation.activation_id, part);
    }
    await addAll(db, store, activation, added);
  }
  return { added, removed };
}

/** Adds the keys in the order in which the store keeps them, which takes a third of the time of any other order. */
async function addAll(
  db: Db,
  { dialect }: Store,
  { activation_id }: StoredActivation,
  keys: readonly string[],
): Promise<void> {
  for await (const part of partsOf(keys.toSorted(), KEYS_AT_ONCE)) {
    await addKeys(db, dialect, activation_id, part);
  }
}

/** Keys that one statement looks for or writes. */
const KEYS_AT_ONCE = 2_000;

/** The keys among those given that the segment has. */
async function presentOf(
  db: Db,
  { dialect }: Store,
  { activation_id, key_count }: StoredActivation,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const present = new Set<string>();
  if (key_count === 0) return present;
  for await (const part of partsOf(keys, KEYS_AT_ONCE)) {
    for (const key of await presentKeys(db, dialect, activation_id, part)) present.add(key);
  }
  return present;
}

/** The keys that are not in `others`. */
function without(keys: readonly string[], others: ReadonlySet<string>): string[] {
  return keys.filter((key) => !others.has(key));
}

/**
 * Removes keys and ignores those that the segment does not have, so that a removal may be repeated. The answer counts
 * the keys that were really removed.
 */
export async function removeGivenKeys(
  db: Db,
  request: ApiRequest,
  store: Store,
  given: readonly string[],
): Promise<WireRemoveKeysResult> {
  const place = await segmentToChange(db, request, 'comment');
  const { activation } = place;
  const keys = keysToRemove(given);
  const present = await presentOf(db, store, activation, keys);
  const removed = keys.filter((key) => present.has(key));
  for await (const part of partsOf(removed, KEYS_AT_ONCE)) {
    await removeKeys(db, store.dialect, activation.activation_id, part);
  }
  await changed(db, request, place, { action: 'remove-keys', added: [], removed });
  return {
    code: 200,
    message: `Deleted ${removed.length} keys`,
    details: null,
    transactionId: null,
  };
}

/**
 * Stores the new count and records the change. Does nothing if no key was added or removed.
 *
 * @throws Problem (400) the segment would hold more keys than the contract allows; the transaction then undoes the
 * additions.
 */
async function changed(
  db: Db,
  request: ApiRequest,
  { workspace, environment, activation }: EnvironmentPath & { activation: StoredActivation },
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
