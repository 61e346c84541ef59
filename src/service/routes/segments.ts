/**
 * Endpoints of segments: at the level of the workspace, their activation in environments, and their keys there. The
 * contract says that a deactivate endpoint exists but not its path; here it is the DELETE of the activation's path. It
 * mentions an upload of CSV files too; here `upload` takes a form with such a file.
 */

import { randomUUID } from 'node:crypto';
import {
  differenceOf,
  keysDifference,
  recordChange,
  recordObject,
  timeOfChange,
  written,
} from '../change-log.js';
import type { ApiRequest, Endpoints } from '../http/endpoint.js';
import { at, CHANGE, REMOVAL, SHARED, type Work } from '../http/place.js';
import { conflict } from '../http/problem.js';
import {
  checkSegmentSize,
  KEY_SCHEMA,
  keysToAdd,
  keysToRemove,
  wantsReplacement,
  type ChangedKeys,
} from '../rules/keys.js';
import {
  CONTRACT_NEW_BODIES,
  PAGE_QUERY,
  pageFrom,
  pageOf,
  textParameter,
  WORDS_BODY,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  addKeys,
  allKeys,
  listKeys,
  noteKeyChange,
  removeKeys,
  replaceKeys,
} from '../store/keys.js';
import {
  deleteActivation,
  deleteSegment,
  findActivation,
  findSegment,
  insertActivation,
  listActivations,
  listSegments,
  touchActivation,
  wireActivation,
  wireSegment,
  wireSegmentDefinition,
  type StoredActivation,
} from '../store/segments.js';
import { insert, sorted } from '../store/statement.js';
import type { AuditAction } from '../store/tables.js';
import { listEnvironments } from '../store/workspaces.js';
import { answer, answerPage } from './answer-schemas.js';
import { checkUnused } from './checked-definition.js';

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

/** Keys that the segment already has are no error, so that an upload may be repeated. */
export const uploadKeys = at('activation', CHANGE, async (work) => {
  const keys = keysToAdd(keysOf(work));
  const { db, activation } = work;
  const { added, removed } = wantsReplacement(work.query)
    ? await replaceKeys(db, activation.activation_id, keys)
    : { added: await addKeys(db, activation.activation_id, keys), removed: [] };
  const action = removed.length > 0 ? 'replace-keys' : 'add-keys';
  return wireSegmentDefinition(await changed(work, { action, added, removed }));
});

/** Keys that the segment does not have are ignored, and not counted in the answer. */
export const removeKeysOf = at('activation', { ...CHANGE, note: 'comment' }, async (work) => {
  const { db, activation } = work;
  const removed = await removeKeys(db, activation.activation_id, keysToRemove(keysOf(work)));
  await changed(work, { action: 'remove-keys', added: [], removed });
  const message = `Deleted ${removed.length} keys`;
  return { code: 200, message, details: null, transactionId: null };
});

/** The path holds the name of the segment; segments have no id in the contract. */
const PATH = '/segments/:env/:segment';

/** Activation needs no body; text that is no JSON is ignored. */
export const SEGMENT_ENDPOINTS: Endpoints = {
  'POST /segments/ws/:ws/trafficTypes/:trafficType': {
    contract: { body: CONTRACT_NEW_BODIES.segment },
    summary: 'Create a segment',
    answer: answer('Segment'),
    body: {
      ...CONTRACT_NEW_BODIES.segment,
      properties: { ...CONTRACT_NEW_BODIES.segment.properties, ...WORDS_MEMBERS },
    },
    write: at('trafficType', SHARED, async (work) => {
      const { db, workspace, trafficType } = work;
      const { name, description } = work.body as { name: string; description?: string };
      if (await findSegment(db, workspace.id, name)) {
        throw conflict(`Segment ${name} already exists`);
      }
      const row = {
        id: randomUUID(),
        workspace_id: workspace.id,
        name,
        description: description ?? '',
        traffic_type_id: trafficType.id,
        creation_time: work.caller.now,
        tags_json: '[]',
      };
      await insert(db, 'segments', [sorted(row)]);
      const created = written(await findSegment(db, workspace.id, name));
      return recordObject(work, 'segment', null, wireSegment(created));
    }),
  },
  'GET /segments/ws/:ws': {
    contract: { query: PAGE_QUERY },
    summary: 'List segments',
    answer: answerPage('Segment'),
    query: PAGE_QUERY,
    read: at('workspace', {}, async ({ db, workspace, query }) => {
      const page = pageFrom(query, 'objects');
      return pageOf(page, await listSegments(db, workspace.id, page), wireSegment);
    }),
  },
  'DELETE /segments/ws/:ws/:segment': {
    contract: {},
    summary: 'Delete a segment with its keys in all environments',
    answer: answer('True'),
    write: at('segmentEverywhere', REMOVAL, async (work) => {
      const { db, segment } = work;
      await checkUnused(db, work, { kind: 'segment', name: segment.name });
      await recordKeysGone(work);
      await deleteSegment(db, segment.id);
      await recordObject(work, 'segment', wireSegment(segment), null);
      return true;
    }),
  },
  [`POST ${PATH}`]: {
    contract: {},
    summary: 'Activate a segment in an environment',
    answer: answer('SegmentInEnvironment'),
    body: WORDS_BODY,
    takesText: true,
    // May be repeated. It needs no approval, because an active segment without keys affects no user.
    write: at('newActivation', { note: 'both' }, async (work) => {
      const { db, environment, segment } = work;
      const before = await findActivation(db, environment.id, segment.name);
      if (before !== undefined) return wireActivation(before);
      await insertActivation(db, segment.id, environment.id, work.caller.now);
      const active = written(await findActivation(db, environment.id, segment.name));
      return recordObject(work, 'segment', null, wireActivation(active), 'activate');
    }),
  },
  'GET /segments/ws/:ws/:segment': {
    summary: 'Get a segment',
    answer: answer('Segment'),
    read: at('segment', {}, ({ segment }) => wireSegment(segment)),
  },
  'GET /segments/ws/:ws/environments/:env': {
    summary: 'List the segments that are active in an environment',
    answer: answerPage('SegmentInEnvironment'),
    query: PAGE_QUERY,
    read: at('environment', {}, async ({ db, environment, query }) => {
      const page = pageFrom(query, 'objects');
      return pageOf(page, await listActivations(db, environment.id, page), wireActivation);
    }),
  },
  [`DELETE ${PATH}`]: {
    summary: 'Deactivate an empty segment in an environment',
    answer: answer('True'),
    write: at('activation', { note: 'both', unrequested: true }, async (work) => {
      const { db, environment, activation } = work;
      const { name, key_count: count } = activation;
      if (count > 0) {
        const where = `${count} keys in ${environment.name}`;
        throw conflict(`Segment ${name} has ${where}: remove them first`);
      }
      await checkUnused(db, work, { kind: 'segment', name });
      await deleteActivation(db, activation.activation_id);
      await recordObject(work, 'segment', wireActivation(activation), null, 'deactivate');
      return true;
    }),
  },
  [`GET ${PATH}/keys`]: {
    contract: { query: PAGE_QUERY },
    summary: 'List the keys of a segment in an environment',
    answer: answer('SegmentKeys'),
    query: PAGE_QUERY,
    // Sorted by their bytes; `count` is the number of keys of the whole segment.
    read: at('activation', {}, async ({ db, activation, query }) => {
      const page = pageFrom(query, 'keys');
      const keys = await listKeys(db, activation.activation_id, page);
      return {
        keys: keys.map((key) => ({ key })),
        openChangeRequestId: activation.open_change_request_id,
        count: activation.key_count,
        ...page,
      };
    }),
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

/** The log has an entry for each environment in which the segment is active. */
async function recordKeysGone(work: Work<'segmentEverywhere'>): Promise<void> {
  const { db, workspace } = work;
  const { name } = work.segment;
  for (const environment of await listEnvironments(db, workspace.id)) {
    const activation = await findActivation(db, environment.id, name);
    if (activation === undefined) continue;
    const removed = await allKeys(db, activation.activation_id);
    const gone = differenceOf(wireActivation(activation), null);
    const difference = removed.length === 0 ? gone : [...gone, keysDifference([], removed)];
    const change = { kind: 'segment', name, action: 'delete', difference } as const;
    await recordChange({ ...work, environment }, change);
    // Applications learn that the segment holds none of its keys any more.
    if (removed.length > 0) await noteKeyChange(db, [environment.id, name], { added: [], removed });
  }
}

function keysOf({ body }: ApiRequest): string[] {
  return Array.isArray(body) ? (body as string[]) : (body as { keys: string[] }).keys;
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
  const last_update_time = timeOfChange(caller, activation.last_update_time);
  await touchActivation(db, keyCount, last_update_time, activation.activation_id);
  const difference = [keysDifference(added, removed)];
  await recordChange(work, { kind: 'segment', name: activation.name, action, difference });
  await noteKeyChange(db, [environment.id, activation.name], { added, removed });
  return { ...activation, last_update_time };
}
