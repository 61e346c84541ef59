/**
 * Endpoints of segments: at the level of the workspace, and their activation in environments.
 *
 * The contract shows create, list and delete under the workspace, and activate under the environment alone. It says
 * that a deactivate endpoint exists but not its path; here it is the DELETE of the activation's path. Getting one
 * segment and listing the active ones follow public documentation. A strict service answers the contract's four.
 *
 * Rules of the contract: the traffic type of a new segment comes from the path; a segment has keys in an environment
 * only after it was activated there; deactivation requires that no keys are left in that environment; a deletion
 * answers `true`.
 */

import { randomUUID } from 'node:crypto';
import type { WirePage, WireSegment, WireSegmentInEnvironment } from '../../admin-api/wire.js';
import { recordChange, written } from '../change-log.js';
import type { Endpoint, Work } from '../http/endpoint.js';
import { at } from '../http/place.js';
import { conflict } from '../http/problem.js';
import { differenceOf, keysGone, SAMPLE_SIZE } from '../rules/difference.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { usersOf } from '../store/definitions.js';
import { noteKeyChange } from '../store/key-changes.js';
import { allKeys, listKeys } from '../store/keys.js';
import {
  deleteActivation,
  deleteSegment,
  findActivation,
  findSegment,
  insertActivation,
  insertSegment,
  listActivations,
  listSegments,
  wireActivation,
  wireSegment,
} from '../store/segments.js';
import type { Db } from '../store/tables.js';
import { listEnvironments } from '../store/workspaces.js';
import { CONTRACT_NEW_OBJECT_BODY, NEW_SEGMENT_BODY, WORDS_BODY } from './body-schemas.js';
import { answer, answerPage } from './answer-schemas.js';
import { PAGE_QUERY } from './query-schemas.js';

/**
 * The contract's four first. Activation needs no body. A JSON body may hold title and comment; other text is ignored.
 */
export const SEGMENT_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: '/segments/ws/:ws/trafficTypes/:trafficType',
    contract: { body: CONTRACT_NEW_OBJECT_BODY },
    summary: 'Create a segment',
    answer: answer('Segment'),
    body: NEW_SEGMENT_BODY,
    write: at('trafficType', { reach: 'workspace' }, createSegment),
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws',
    contract: { query: PAGE_QUERY },
    summary: 'List segments',
    answer: answerPage('Segment'),
    query: PAGE_QUERY,
    read: at('workspace', {}, readSegments),
  },
  {
    methods: ['DELETE'],
    path: '/segments/ws/:ws/:segment',
    contract: {},
    summary: 'Delete a segment with its keys in all environments',
    answer: answer('True'),
    write: at(
      'segmentEverywhere',
      { reach: 'workspace', note: 'both', approval: true },
      removeSegment,
    ),
  },
  {
    methods: ['POST'],
    path: '/segments/:env/:segment',
    contract: {},
    summary: 'Activate a segment in an environment',
    answer: answer('SegmentInEnvironment'),
    body: WORDS_BODY,
    takesText: true,
    write: at('newActivation', { note: 'both' }, activate),
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws/:segment',
    summary: 'Get a segment',
    answer: answer('Segment'),
    read: at('segment', {}, async ({ segment }) => Promise.resolve(wireSegment(segment))),
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws/environments/:env',
    summary: 'List the segments that are active in an environment',
    answer: answerPage('SegmentInEnvironment'),
    query: PAGE_QUERY,
    read: at('environment', {}, readActivations),
  },
  {
    methods: ['DELETE'],
    path: '/segments/:env/:segment',
    summary: 'Deactivate an empty segment in an environment',
    answer: answer('True'),
    write: at('activation', { note: 'both', unrequested: true }, deactivate),
  },
];

/**
 * @throws Problem (400) the name is not allowed.
 * @throws Problem (404) the workspace or the traffic type does not exist.
 * @throws Problem (409) the workspace has a segment of this name.
 */
async function createSegment(work: Work<'trafficType'>): Promise<WireSegment> {
  const { db, workspace, trafficType } = work;
  const { name, description } = work.body as { name: string; description?: string };
  if (await findSegment(db, workspace.id, name)) throw conflict(`Segment ${name} already exists`);
  await insertSegment(db, {
    id: randomUUID(),
    workspace_id: workspace.id,
    name,
    description: description ?? '',
    traffic_type_id: trafficType.id,
    creation_time: work.caller.now,
    tags_json: '[]',
  });
  const created = wireSegment(written(await findSegment(db, workspace.id, name)));
  const difference = differenceOf(null, created);
  await recordChange(work, { kind: 'segment', name, action: 'create', difference });
  return created;
}

async function readSegments({
  db,
  workspace,
  query,
}: Work<'workspace'>): Promise<WirePage<WireSegment>> {
  const page = pageFrom(query, PAGE_SIZES.objects);
  const { segments, totalCount } = await listSegments(db, workspace.id, page);
  return { objects: segments.map(wireSegment), ...page, totalCount };
}

async function readActivations({
  db,
  environment,
  query,
}: Work<'environment'>): Promise<WirePage<WireSegmentInEnvironment>> {
  const page = pageFrom(query, PAGE_SIZES.objects);
  const { activations, totalCount } = await listActivations(db, environment.id, page);
  return { objects: activations.map(wireActivation), ...page, totalCount };
}

/**
 * @throws Problem (400) the workspace requires title and comment, and one is missing.
 * @throws Problem (403) the segment has keys in an environment that requires approvals.
 * @throws Problem (409) a definition names the segment.
 * @throws Problem (423) a change request for its keys is open somewhere.
 */
async function removeSegment(work: Work<'segmentEverywhere'>): Promise<true> {
  const { db, workspace, segment } = work;
  await checkUnused(db, { name: segment.name, workspaceId: workspace.id });
  const change = { kind: 'segment', name: segment.name, action: 'delete' } as const;
  for (const environment of await listEnvironments(db, workspace.id)) {
    const difference = await activationGone(db, environment.id, segment.name);
    await recordChange({ ...work, environment }, { ...change, difference });
    await noteKeysGone(work, environment.id);
  }
  await deleteSegment(db, segment.id);
  await recordChange(work, { ...change, difference: differenceOf(wireSegment(segment), null) });
  return true;
}

/** Applications learn that a deleted segment holds none of its keys any more. */
async function noteKeysGone(
  { db, segment }: Work<'segmentEverywhere'>,
  environmentId: string,
): Promise<void> {
  const activation = await findActivation(db, environmentId, segment.name);
  if (activation === undefined || activation.key_count === 0) return;
  const removed = await allKeys(db, activation.activation_id);
  await noteKeyChange(db, { environmentId, segment: segment.name }, { added: [], removed });
}

/**
 * The audit record of a segment's deletion in one environment: the activation, and the number of keys with a sample of
 * them. Empty if the segment is not active there.
 */
async function activationGone(db: Db, environmentId: string, name: string): Promise<unknown[]> {
  const activation = await findActivation(db, environmentId, name);
  if (activation === undefined) return [];
  const first = { offset: 0, limit: SAMPLE_SIZE };
  const keys = await listKeys(db, activation.activation_id, first);
  return [
    ...differenceOf(wireActivation(activation), null),
    ...keysGone(activation.key_count, keys),
  ];
}

/**
 * @param segment without `environmentId`, definitions of all environments count.
 * @throws Problem (409) a definition names the segment.
 */
async function checkUnused(
  db: Db,
  segment: { name: string; workspaceId: string; environmentId?: string },
): Promise<void> {
  const [user] = await usersOf(db, { kind: 'segment', ...segment });
  if (user === undefined) return;
  throw conflict(
    `Segment ${segment.name} is used by feature flag ${user.flag} in the environment ${user.environment}`,
  );
}

/**
 * Activates a segment in an environment. If it is active already, answers it and writes nothing, so that an activation
 * may be repeated.
 *
 * Needs no approval, because an active segment without keys affects no user.
 */
async function activate(work: Work<'newActivation'>): Promise<WireSegmentInEnvironment> {
  const { db, environment, segment } = work;
  const before = await findActivation(db, environment.id, segment.name);
  if (before !== undefined) return wireActivation(before);
  const place = { segmentId: segment.id, environmentId: environment.id };
  await insertActivation(db, place, work.caller.now);
  const active = wireActivation(written(await findActivation(db, environment.id, segment.name)));
  const difference = differenceOf(null, active);
  await recordChange(work, {
    kind: 'segment',
    name: segment.name,
    action: 'activate',
    difference,
  });
  return active;
}

/** @throws Problem (409) the segment still has keys in this environment, or a definition there names it. */
async function deactivate(work: Work<'activation'>): Promise<true> {
  const { db, workspace, environment, activation } = work;
  const { name, key_count: count } = activation;
  if (count > 0) {
    throw conflict(`Segment ${name} has ${count} keys in ${environment.name}: remove them first`);
  }
  await checkUnused(db, { name, workspaceId: workspace.id, environmentId: environment.id });
  await deleteActivation(db, activation.activation_id);
  const difference = differenceOf(wireActivation(activation), null);
  await recordChange(work, { kind: 'segment', name, action: 'deactivate', difference });
  return true;
}
