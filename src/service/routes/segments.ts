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
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../http/endpoint.js';
import {
  activationAt,
  checkMayChangeWorkspace,
  checkNoApproval,
  checkNoteFor,
  checkNothingRequested,
  checkNotRequested,
  environmentAt,
  environmentOfSegment,
  segmentAt,
  trafficTypeAt,
  workspaceAt,
} from '../http/path-lookup.js';
import { conflict } from '../http/problem.js';
import { differenceOf, keysGone, SAMPLE_SIZE } from '../rules/difference.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { usersOf } from '../store/definitions.js';
import {
  deleteActivation,
  deleteSegment,
  environmentsWithKeys,
  findActivation,
  findSegment,
  insertActivation,
  insertSegment,
  listActivations,
  listKeys,
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
    write: createSegment,
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws',
    contract: { query: PAGE_QUERY },
    summary: 'List segments',
    answer: answerPage('Segment'),
    query: PAGE_QUERY,
    read: readSegments,
  },
  {
    methods: ['DELETE'],
    path: '/segments/ws/:ws/:segment',
    contract: {},
    summary: 'Delete a segment with its keys in all environments',
    answer: answer('True'),
    write: removeSegment,
  },
  {
    methods: ['POST'],
    path: '/segments/:env/:segment',
    contract: {},
    summary: 'Activate a segment in an environment',
    answer: answer('SegmentInEnvironment'),
    body: WORDS_BODY,
    takesText: true,
    write: activate,
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws/:segment',
    summary: 'Get a segment',
    answer: answer('Segment'),
    read: async (db, request) => {
      const workspace = await workspaceAt(db, request);
      return wireSegment(await segmentAt(db, request, workspace.id));
    },
  },
  {
    methods: ['GET'],
    path: '/segments/ws/:ws/environments/:env',
    summary: 'List the segments that are active in an environment',
    answer: answerPage('SegmentInEnvironment'),
    query: PAGE_QUERY,
    read: readActivations,
  },
  {
    methods: ['DELETE'],
    path: '/segments/:env/:segment',
    summary: 'Deactivate an empty segment in an environment',
    answer: answer('True'),
    write: deactivate,
  },
];

/**
 * @throws Problem (400) the name is not allowed.
 * @throws Problem (404) the workspace or the traffic type does not exist.
 * @throws Problem (409) the workspace has a segment of this name.
 */
async function createSegment(db: Db, request: ApiRequest): Promise<WireSegment> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  const trafficType = await trafficTypeAt(db, request, workspace.id);
  const { name, description } = request.body as { name: string; description?: string | null };
  if (await findSegment(db, workspace.id, name)) throw conflict(`Segment ${name} already exists`);
  await insertSegment(db, {
    id: randomUUID(),
    workspace_id: workspace.id,
    name,
    description: description ?? '',
    traffic_type_id: trafficType.id,
    creation_time: request.caller.now,
    tags_json: '[]',
  });
  const created = await findSegment(db, workspace.id, name);
  if (created === undefined) throw new Error('bug: a segment vanished within a transaction');
  await recordChange(db, request.caller, {
    kind: 'segment',
    name,
    action: 'create',
    workspaceId: workspace.id,
    difference: differenceOf(null, wireSegment(created)),
  });
  return wireSegment(created);
}

/** One page of the segments of a workspace, in the order of their names. */
async function readSegments(db: Db, request: ApiRequest): Promise<WirePage<WireSegment>> {
  const workspace = await workspaceAt(db, request);
  const page = pageFrom(request.query, PAGE_SIZES.objects);
  const { segments, totalCount } = await listSegments(db, workspace.id, page);
  return { objects: segments.map(wireSegment), ...page, totalCount };
}

/** One page of the segments that are active in an environment, in the order of their names. */
async function readActivations(
  db: Db,
  request: ApiRequest,
): Promise<WirePage<WireSegmentInEnvironment>> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  const page = pageFrom(request.query, PAGE_SIZES.objects);
  const { activations, totalCount } = await listActivations(db, environment.id, page);
  return { objects: activations.map(wireActivation), ...page, totalCount };
}

/**
 * Deletes a segment with its keys in all environments.
 *
 * @throws Problem (400) the workspace requires title and comment, and one is missing.
 * @throws Problem (403) the segment has keys in an environment that requires approvals.
 * @throws Problem (409) a definition names the segment.
 * @throws Problem (423) a change request for its keys is open somewhere.
 */
async function removeSegment(db: Db, request: ApiRequest): Promise<true> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  checkNoteFor(workspace, request, 'both');
  const segment = await segmentAt(db, request, workspace.id);
  for (const environment of await environmentsWithKeys(db, segment.id))
    checkNoApproval(environment, request);
  await checkNothingRequested(db, {
    kind: 'segment',
    name: segment.name,
    workspaceId: workspace.id,
  });
  await checkUnused(db, { name: segment.name, workspaceId: workspace.id });
  const change = {
    kind: 'segment',
    name: segment.name,
    action: 'delete',
    workspaceId: workspace.id,
  } as const;
  for (const environment of await listEnvironments(db, workspace.id)) {
    const difference = await activationGone(db, environment.id, segment.name);
    await recordChange(db, request.caller, { ...change, environment, difference });
  }
  await deleteSegment(db, segment.id);
  const difference = differenceOf(wireSegment(segment), null);
  await recordChange(db, request.caller, { ...change, difference });
  return true;
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
async function activate(db: Db, request: ApiRequest): Promise<WireSegmentInEnvironment> {
  const { workspace, environment } = await environmentOfSegment(db, request);
  checkNoteFor(workspace, request, 'both');
  const segment = await segmentAt(db, request, workspace.id);
  const before = await findActivation(db, environment.id, segment.name);
  if (before !== undefined) return wireActivation(before);
  const place = { segmentId: segment.id, environmentId: environment.id };
  await insertActivation(db, place, request.caller.now);
  const activation = await findActivation(db, environment.id, segment.name);
  if (activation === undefined) throw new Error('bug: an activation vanished within a transaction');
  await recordChange(db, request.caller, {
    kind: 'segment',
    name: segment.name,
    action: 'activate',
    workspaceId: workspace.id,
    environment,
    difference: differenceOf(null, wireActivation(activation)),
  });
  return wireActivation(activation);
}

/**
 * @throws Problem (409) the segment still has keys in this environment, or a definition there names
 * it.
 */
async function deactivate(db: Db, request: ApiRequest): Promise<true> {
  const { workspace, environment } = await environmentOfSegment(db, request);
  checkNoteFor(workspace, request, 'both');
  const activation = await activationAt(db, request, environment);
  checkNotRequested(activation, request);
  if (activation.key_count > 0) {
    throw conflict(
      `Segment ${activation.name} has ${activation.key_count} keys in ${environment.name}: remove them first`,
    );
  }
  await checkUnused(db, {
    name: activation.name,
    workspaceId: workspace.id,
    environmentId: environment.id,
  });
  await deleteActivation(db, activation.activation_id);
  await recordChange(db, request.caller, {
    kind: 'segment',
    name: activation.name,
    action: 'deactivate',
    workspaceId: workspace.id,
    environment,
    difference: differenceOf(wireActivation(activation), null),
  });
  return true;
}
