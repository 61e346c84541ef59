/**
 * Endpoints that create, change and delete workspaces and traffic types. The contract only lists workspaces and takes
 * traffic types as given, so a strict service has none of these.
 *
 * Only an unrestricted key creates or deletes workspaces, and a key that is restricted to environments cannot change
 * what all environments of a workspace share.
 */

import { randomUUID } from 'node:crypto';
import type { WireTrafficType, WireWorkspace } from '../../admin-api/wire.js';
import { recordObject, written } from '../change-log.js';
import type { Endpoint, Work } from '../http/endpoint.js';
import { checkMayChangeWorkspace, isVisible } from '../http/path-lookup.js';
import { at } from '../http/place.js';
import { conflict, notFound } from '../http/problem.js';
import { WORKSPACE_SCHEMA, workspaceFrom, workspacePatched } from '../rules/environment.js';
import type { PatchOperation } from '../rules/json-patch.js';
import { createWorkspace } from '../seed.js';
import type { Db } from '../store/tables.js';
import {
  countUses,
  deleteTrafficType,
  deleteWorkspace,
  findTrafficType,
  findTrafficTypeAnywhere,
  findWorkspace,
  insertTrafficType,
  updateWorkspace,
} from '../store/workspaces.js';
import { NEW_TRAFFIC_TYPE_BODY, PATCH_BODY } from './body-schemas.js';
import { wireTrafficType, wireWorkspace } from './workspaces.js';
import { answer } from './answer-schemas.js';

export const WORKSPACE_CHANGE_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: '/workspaces',
    summary: 'Create a workspace without environments',
    answer: answer('Workspace'),
    body: WORKSPACE_SCHEMA,
    write: at('nothing', { reach: 'everything' }, addWorkspace),
  },
  {
    methods: ['PATCH'],
    path: '/workspaces/:ws',
    summary: 'Change a workspace',
    answer: answer('Workspace'),
    body: PATCH_BODY,
    write: at('workspace', { reach: 'workspace' }, patchWorkspace),
  },
  {
    methods: ['DELETE'],
    path: '/workspaces/:ws',
    summary: 'Delete a workspace that holds nothing any more',
    answer: answer('True'),
    write: at('workspace', { reach: 'everything' }, removeWorkspace),
  },
  {
    methods: ['POST'],
    path: '/trafficTypes/ws/:ws',
    summary: 'Create a traffic type',
    answer: answer('TrafficType'),
    body: NEW_TRAFFIC_TYPE_BODY,
    write: at('workspace', { reach: 'workspace' }, addTrafficType),
  },
  {
    methods: ['DELETE'],
    path: '/trafficTypes/:trafficType',
    summary: 'Delete a traffic type that nothing uses',
    answer: answer('True'),
    write: at('nothing', {}, removeTrafficType),
  },
];

/**
 * Creates a workspace with the usual rollout statuses and without environments and traffic types.
 *
 * @throws Problem (409) a workspace of this name exists.
 */
async function addWorkspace(work: Work<'nothing'>): Promise<WireWorkspace> {
  const content = workspaceFrom(work.body);
  await checkNameIsFree(work.db, content.name);
  return recordedWorkspace(work, await createWorkspace(work.db, content), null);
}

/** Also compares with ids: a workspace whose name is the id of another could not be found by that name. */
async function checkNameIsFree(db: Db, name: string): Promise<void> {
  if (await findWorkspace(db, name)) throw conflict(`Workspace ${name} already exists`);
}

async function patchWorkspace(work: Work<'workspace'>): Promise<WireWorkspace> {
  const { db, workspace } = work;
  const before = wireWorkspace(workspace);
  const content = workspacePatched(before, work.body as PatchOperation[]);
  if (content.name !== before.name) await checkNameIsFree(db, content.name);
  await updateWorkspace(db, workspace.id, content);
  return recordedWorkspace(work, workspace.id, before);
}

async function recordedWorkspace(
  { db, caller }: Work<'nothing'>,
  id: string,
  before: WireWorkspace | null,
): Promise<WireWorkspace> {
  const workspace = written(await findWorkspace(db, id));
  const after = wireWorkspace(workspace);
  await recordObject({ db, caller, workspace }, 'workspace', before, after);
  return after;
}

/**
 * Deletes an empty workspace with its traffic types and rollout statuses.
 *
 * @throws Problem (409) it still has environments, flags or segments.
 */
async function removeWorkspace(work: Work<'workspace'>): Promise<true> {
  const { db, workspace } = work;
  for (const table of ['environments', 'flags', 'segments'] as const) {
    const count = await countUses(db, table, 'workspace_id', workspace.id);
    if (count > 0) throw conflict(`Workspace ${workspace.name} still has ${count} ${table}`);
  }
  await deleteWorkspace(db, workspace.id);
  await recordObject(work, 'workspace', wireWorkspace(workspace), null);
  return true;
}

/** @throws Problem (409) the workspace has a traffic type of this name. */
async function addTrafficType(work: Work<'workspace'>): Promise<WireTrafficType> {
  const { db, workspace } = work;
  const { name } = work.body as { name: string };
  if (await findTrafficType(db, workspace.id, name)) {
    throw conflict(`Traffic type ${name} already exists`);
  }
  const row = { id: randomUUID(), workspace_id: workspace.id, name, display_attribute_id: null };
  await insertTrafficType(db, row);
  const created = wireTrafficType(row);
  await recordObject(work, 'traffic-type', null, created);
  return created;
}

/**
 * Deletes a traffic type by its id. The path names no workspace, so a name would be ambiguous.
 *
 * @throws Problem (404) the traffic type does not exist, or the caller's key does not see its workspace.
 * @throws Problem (409) flags, segments or identities use it.
 */
async function removeTrafficType(work: Work<'nothing'>): Promise<true> {
  checkMayChangeWorkspace(work);
  const { db, caller } = work;
  const id = work.params['trafficType'] ?? '';
  const trafficType = await findTrafficTypeAnywhere(db, id);
  if (trafficType === undefined || !isVisible(caller.scope.workspaces, trafficType.workspace_id)) {
    throw notFound('traffic type', id);
  }
  for (const table of ['flags', 'segments', 'identities'] as const) {
    const count = await countUses(db, table, 'traffic_type_id', trafficType.id);
    if (count > 0) throw conflict(`Traffic type ${trafficType.name} is used by ${count} ${table}`);
  }
  await deleteTrafficType(db, trafficType.id);
  const workspace = { id: trafficType.workspace_id };
  await recordObject({ db, caller, workspace }, 'traffic-type', wireTrafficType(trafficType), null);
  return true;
}
