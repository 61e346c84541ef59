/**
 * Endpoints that create, change and delete workspaces, environments and traffic types. The contract only lists
 * workspaces and environments and takes traffic types as given, so a strict service has none of these.
 */

import { randomUUID } from 'node:crypto';
import type { WireTrafficType, WireWorkspace } from '../../admin-api/wire.js';
import { addKeysOfEnvironment, removeKeysOfEnvironment } from '../admin-keys.js';
import { recordObject } from '../change-log.js';
import { isVisible, type Endpoints } from '../http/endpoint.js';
import { at, checkMayChangeWorkspace, type Work } from '../http/place.js';
import { conflict, notFound } from '../http/problem.js';
import {
  ENVIRONMENT_SCHEMA,
  environmentFrom,
  environmentPatched,
  WORKSPACE_SCHEMA,
  workspaceFrom,
  workspacePatched,
} from '../rules/environment.js';
import { PATCH_BODY, type PatchOperation } from '../rules/json-patch.js';
import { createWorkspace } from '../seed.js';
import { insert } from '../store/statement.js';
import type { Db, EnvironmentRow } from '../store/tables.js';
import {
  countUses,
  deleteEnvironment,
  deleteTrafficType,
  deleteWorkspace,
  environmentColumns,
  findEnvironment,
  findTrafficType,
  findTrafficTypeAnywhere,
  findWorkspace,
  updateEnvironment,
  updateWorkspace,
  workspaceColumns,
} from '../store/workspaces.js';
import { NAME_SCHEMA, WORDS_MEMBERS } from '../rules/members.js';
import { closed } from '../rules/shape.js';
import { wireEnvironment, wireTrafficType, wireWorkspace } from './workspaces.js';
import { answer } from './answer-schemas.js';

/** Only an unrestricted key creates or deletes workspaces. */
const EVERYTHING = { reach: 'everything' } as const;
const SHARED = { reach: 'workspace' } as const;

export const WORKSPACE_CHANGE_ENDPOINTS: Endpoints = {
  'POST /workspaces': {
    summary: 'Create a workspace without environments',
    answer: answer('Workspace'),
    body: WORKSPACE_SCHEMA,
    write: at('nothing', EVERYTHING, addWorkspace),
  },
  'PATCH /workspaces/:ws': {
    summary: 'Change a workspace',
    answer: answer('Workspace'),
    body: PATCH_BODY,
    write: at('workspace', SHARED, patchWorkspace),
  },
  'DELETE /workspaces/:ws': {
    summary: 'Delete a workspace that holds nothing any more',
    answer: answer('True'),
    write: at('workspace', EVERYTHING, removeWorkspace),
  },
  'POST /trafficTypes/ws/:ws': {
    summary: 'Create a traffic type',
    answer: answer('TrafficType'),
    body: closed({ name: NAME_SCHEMA, ...WORDS_MEMBERS }, ['name']),
    write: at('workspace', SHARED, addTrafficType),
  },
  'DELETE /trafficTypes/:trafficType': {
    summary: 'Delete a traffic type that nothing uses',
    answer: answer('True'),
    write: at('nothing', {}, removeTrafficType),
  },
  'POST /environments/ws/:ws': {
    summary: 'Create an environment',
    answer: answer('Environment'),
    body: ENVIRONMENT_SCHEMA,
    write: at('workspace', SHARED, addEnvironment),
  },
  'PATCH /environments/ws/:ws/:env': {
    summary: 'Change an environment',
    answer: answer('Environment'),
    body: PATCH_BODY,
    write: at('environment', SHARED, patchEnvironment),
  },
  'DELETE /environments/ws/:ws/:env': {
    summary: 'Delete an environment that holds nothing any more',
    answer: answer('True'),
    write: at('environment', SHARED, removeEnvironment),
  },
};

async function addWorkspace({ db, caller, body }: Work<'nothing'>): Promise<WireWorkspace> {
  const content = workspaceFrom(body);
  await checkWorkspaceName(db, content.name);
  const id = await createWorkspace(db, content);
  const workspace = wireWorkspace({ id, ...workspaceColumns(content) });
  return recordObject({ db, caller, workspace }, 'workspace', null, workspace);
}

/** Also compares with ids: a workspace whose name is the id of another could not be found by that name. */
async function checkWorkspaceName(db: Db, name: string): Promise<void> {
  if (await findWorkspace(db, name)) throw conflict(`Workspace ${name} already exists`);
}

async function patchWorkspace(work: Work<'workspace'>): Promise<WireWorkspace> {
  const { db, workspace } = work;
  const before = wireWorkspace(workspace);
  const content = workspacePatched(before, work.body as PatchOperation[]);
  if (content.name !== before.name) await checkWorkspaceName(db, content.name);
  await updateWorkspace(db, workspace.id, content);
  return recordObject(work, 'workspace', before, { ...before, ...content });
}

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

async function addTrafficType(work: Work<'workspace'>): Promise<WireTrafficType> {
  const { db, workspace } = work;
  const { name } = work.body as { name: string };
  if (await findTrafficType(db, workspace.id, name)) {
    throw conflict(`Traffic type ${name} already exists`);
  }
  const row = { id: randomUUID(), workspace_id: workspace.id, name, display_attribute_id: null };
  await insert(db, 'traffic_types', [row]);
  return recordObject(work, 'traffic-type', null, wireTrafficType(row));
}

/** The path names no workspace, so a name would be ambiguous, and only an id is taken. */
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

/**
 * Only its own endpoints answer the members of public documentation; the contract's list has `id`, `name` and
 * `production` alone.
 */
function wholeEnvironment(row: EnvironmentRow) {
  return {
    ...wireEnvironment(row),
    creationTime: row.creation_time,
    type: 'environment',
    status: 'ACTIVE',
    changePermissions: {
      areApprovalsRequired: row.approvals_required === 1,
      allowKills: row.allow_kills === 1,
    },
  };
}

/** Also makes the keys of its applications, as clients of such services expect. */
async function addEnvironment(work: Work<'workspace'>): Promise<object> {
  const { db, caller, workspace } = work;
  const content = environmentFrom(work.body);
  await checkEnvironmentName(work, content.name);
  const ids = { id: randomUUID(), workspace_id: workspace.id };
  const environment = { ...ids, creation_time: caller.now, ...environmentColumns(content) };
  await insert(db, 'environments', [environment]);
  const added = wholeEnvironment(environment);
  await recordObject({ ...work, environment }, 'environment', null, added);
  const keys = await addKeysOfEnvironment(db, caller, environment);
  const apiTokens = keys.map(({ id, name, apiKeyType, key }) => {
    return { id, name, type: 'api_key', apiKeyType, key };
  });
  return { ...added, apiTokens };
}

/** Also compares with ids, see `checkWorkspaceName`. */
async function checkEnvironmentName(
  { db, workspace }: Work<'workspace'>,
  name: string,
): Promise<void> {
  if (await findEnvironment(db, workspace.id, name)) {
    throw conflict(`Environment ${name} already exists`);
  }
}

async function patchEnvironment(work: Work<'environment'>): Promise<object> {
  const { db } = work;
  const before = wholeEnvironment(work.environment);
  const content = environmentPatched(before, work.body as PatchOperation[]);
  if (content.name !== before.name) await checkEnvironmentName(work, content.name);
  await updateEnvironment(db, before.id, content);
  const environment = { ...work.environment, ...environmentColumns(content) };
  return recordObject(
    { ...work, environment },
    'environment',
    before,
    wholeEnvironment(environment),
  );
}

/**
 * Definitions and active segments have to be removed first, so that no single request can delete everything that an
 * environment serves.
 */
async function removeEnvironment(work: Work<'environment'>): Promise<true> {
  const { db, environment } = work;
  for (const [table, what] of [
    ['definitions', 'definitions'],
    ['activations', 'active segments'],
  ] as const) {
    const count = await countUses(db, table, 'environment_id', environment.id);
    if (count > 0) throw conflict(`Environment ${environment.name} still has ${count} ${what}`);
  }
  await removeKeysOfEnvironment(db, work.caller, environment.id);
  await deleteEnvironment(db, environment.id);
  await recordObject(work, 'environment', wholeEnvironment(environment), null);
  return true;
}
