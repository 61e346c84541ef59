/**
 * Endpoints that create, change and delete workspaces and traffic types. The contract only lists workspaces and takes
 * traffic types as given, so a strict service has none of these.
 *
 * Only an unrestricted key creates or deletes workspaces, and a key that is restricted to environments cannot change
 * what all environments of a workspace share.
 */

import { randomUUID } from 'node:crypto';
import type { WireTrafficType, WireWorkspace } from '../../admin-api/wire.js';
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../http/endpoint.js';
import { checkMayChangeWorkspace, checkUnrestricted, workspaceAt } from '../http/path-lookup.js';
import { conflict, notFound } from '../http/problem.js';
import { differenceOf } from '../rules/difference.js';
import { WORKSPACE_SCHEMA, workspaceFrom, workspacePatched } from '../rules/environment.js';
import type { PatchOperation } from '../rules/json-patch.js';
import { createWorkspace } from '../seed.js';
import type { Db, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
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
    write: addWorkspace,
  },
  {
    methods: ['PATCH'],
    path: '/workspaces/:ws',
    summary: 'Change a workspace',
    answer: answer('Workspace'),
    body: PATCH_BODY,
    write: patchWorkspace,
  },
  {
    methods: ['DELETE'],
    path: '/workspaces/:ws',
    summary: 'Delete a workspace that holds nothing any more',
    answer: answer('True'),
    write: removeWorkspace,
  },
  {
    methods: ['POST'],
    path: '/trafficTypes/ws/:ws',
    summary: 'Create a traffic type',
    answer: answer('TrafficType'),
    body: NEW_TRAFFIC_TYPE_BODY,
    write: addTrafficType,
  },
  {
    methods: ['DELETE'],
    path: '/trafficTypes/:trafficType',
    summary: 'Delete a traffic type that nothing uses',
    answer: answer('True'),
    write: removeTrafficType,
  },
];

/**
 * Creates a workspace with the usual rollout statuses and without environments and traffic types.
 *
 * @throws Problem (409) a workspace of this name exists.
 */
async function addWorkspace(db: Db, request: ApiRequest): Promise<WireWorkspace> {
  checkUnrestricted(request);
  const content = workspaceFrom(request.body);
  await checkNameIsFree(db, content.name);
  const id = await createWorkspace(db, content);
  return recordedWorkspace(db, request, id, null);
}

/** Also compares with ids: a workspace whose name is the id of another could not be found by that name. */
async function checkNameIsFree(db: Db, name: string): Promise<void> {
  if (await findWorkspace(db, name)) throw conflict(`Workspace ${name} already exists`);
}

/** Applies patch operations to the workspace in the form of answers. */
async function patchWorkspace(db: Db, request: ApiRequest): Promise<WireWorkspace> {
  checkMayChangeWorkspace(request);
  const workspace = await workspaceAt(db, request);
  const before = wireWorkspace(workspace);
  const content = workspacePatched(before, request.body as PatchOperation[]);
  if (content.name !== before.name) await checkNameIsFree(db, content.name);
  await updateWorkspace(db, workspace.id, content);
  return recordedWorkspace(db, request, workspace.id, before);
}

/**
 * Records a creation or a change, and answers the workspace as the store has it afterwards.
 *
 * @param before null if the workspace is new.
 */
async function recordedWorkspace(
  db: Db,
  { caller }: ApiRequest,
  id: string,
  before: WireWorkspace | null,
): Promise<WireWorkspace> {
  const row = await findWorkspace(db, id);
  if (row === undefined) throw new Error('bug: a workspace vanished within a transaction');
  const after = wireWorkspace(row);
  await recordChange(db, caller, {
    kind: 'workspace',
    name: after.name,
    action: before === null ? 'create' : 'update',
    workspaceId: id,
    difference: differenceOf(before, after),
  });
  return after;
}

/**
 * Deletes an empty workspace with its traffic types and rollout statuses.
 *
 * @throws Problem (409) it still has environments, flags or segments.
 */
async function removeWorkspace(db: Db, request: ApiRequest): Promise<true> {
  checkUnrestricted(request);
  const workspace = await workspaceAt(db, request);
  for (const table of ['environments', 'flags', 'segments'] as const) {
    const count = await countUses(db, table, 'workspace_id', workspace.id);
    if (count > 0) throw conflict(`Workspace ${workspace.name} still has ${count} ${table}`);
  }
  await deleteWorkspace(db, workspace.id);
  await recordChange(db, request.caller, {
    kind: 'workspace',
    name: workspace.name,
    action: 'delete',
    workspaceId: workspace.id,
    difference: differenceOf(wireWorkspace(workspace), null),
  });
  return true;
}

/** @throws Problem (409) the workspace has a traffic type of this name. */
async function addTrafficType(db: Db, request: ApiRequest): Promise<WireTrafficType> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  const { name } = request.body as { name: string };
  if (await findTrafficType(db, workspace.id, name)) {
    throw conflict(`Traffic type ${name} already exists`);
  }
  const row = { id: randomUUID(), workspace_id: workspace.id, name, display_attribute_id: null };
  await insertTrafficType(db, row);
  await recordTrafficType(db, request, workspace.id, row, 'create');
  return wireTrafficType(row);
}

/**
 * Deletes a traffic type by its id. The path names no workspace, so a name would be ambiguous.
 *
 * @throws Problem (404) the traffic type does not exist, or the caller's key does not see its workspace.
 * @throws Problem (409) flags, segments or identities use it.
 */
async function removeTrafficType(db: Db, request: ApiRequest): Promise<true> {
  checkMayChangeWorkspace(request);
  const id = request.params['trafficType'] ?? '';
  const trafficType = await findTrafficTypeAnywhere(db, id);
  const workspace = trafficType && (await visibleWorkspace(db, request, trafficType));
  if (trafficType === undefined || workspace === undefined) throw notFound('traffic type', id);
  for (const table of ['flags', 'segments', 'identities'] as const) {
    const count = await countUses(db, table, 'traffic_type_id', trafficType.id);
    if (count > 0) throw conflict(`Traffic type ${trafficType.name} is used by ${count} ${table}`);
  }
  await deleteTrafficType(db, trafficType.id);
  await recordTrafficType(db, request, workspace.id, trafficType, 'delete');
  return true;
}

/** The workspace of a traffic type; undefined if the caller's key may not touch it. */
async function visibleWorkspace(
  db: Db,
  { caller }: ApiRequest,
  { workspace_id }: TrafficTypeRow,
): Promise<WorkspaceRow | undefined> {
  const { workspaces } = caller.scope;
  if (workspaces !== null && !workspaces.includes(workspace_id)) return undefined;
  return findWorkspace(db, workspace_id);
}

/** Records the creation or deletion of a traffic type. */
async function recordTrafficType(
  db: Db,
  { caller }: ApiRequest,
  workspaceId: string,
  row: TrafficTypeRow,
  action: 'create' | 'delete',
): Promise<void> {
  const wire = wireTrafficType(row);
  await recordChange(db, caller, {
    kind: 'traffic-type',
    name: row.name,
    action,
    workspaceId,
    difference: action === 'create' ? differenceOf(null, wire) : differenceOf(wire, null),
  });
}
