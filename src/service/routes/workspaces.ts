/**
 * Endpoints of workspaces, environments, rollout statuses and traffic types. The contract lists the first three alone.
 * With a restricted key, lists hold and count only the objects that the key may touch.
 */

import type {
  WirePage,
  WireRolloutStatus,
  WireTrafficType,
  WireWorkspace,
} from '../../admin-api/wire.js';
import { recordObject } from '../change-log.js';
import { isVisible, type ApiRequest, type Endpoints } from '../http/endpoint.js';
import {
  at,
  checkMayChangeWorkspace,
  SHARED,
  workspaceCalled,
  type Demands,
  type Work,
} from '../http/place.js';
import { badRequest, conflict, notFound } from '../http/problem.js';
import { applyPatch, PATCH_BODY, type PatchOperation } from '../rules/json-patch.js';
import {
  checkTitleName,
  givenText,
  isTrue,
  NAME_SCHEMA,
  PAGE_QUERY,
  PAGE_SIZES,
  pageFrom,
  textParameter,
  TITLE_NAME_SCHEMA,
  TRUTH_SCHEMA,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { checkShape, checkUntouched, closed, compileSchema } from '../rules/shape.js';
import type { Db, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import {
  countUses,
  deleteTrafficType,
  deleteWorkspace,
  findTrafficType,
  findTrafficTypeAnywhere,
  findWorkspace,
  insertTrafficType,
  insertWorkspace,
  listRolloutStatuses,
  listTrafficTypes,
  listWorkspaces,
  updateWorkspace,
  type WorkspaceContent,
} from '../store/workspaces.js';
import { answer, answerList, answerPage } from './answer-schemas.js';
import {
  addEnvironment,
  ENVIRONMENT_BODY,
  patchEnvironment,
  readEnvironments,
  removeEnvironment,
} from './environments.js';

const WORKSPACE_QUERY: QuerySchema = {
  ...PAGE_QUERY,
  name: textParameter('Of the workspaces.'),
  nameOp: { enum: ['IS', 'STARTS_WITH', 'CONTAINS', ''], default: 'IS' },
};

/** The contract names the workspace of this list in the query and not in the path. */
const ROLLOUT_STATUS_QUERY: QuerySchema = {
  wsId: textParameter('Id or name of a workspace. Default: all workspaces that the key sees.'),
};

const MEMBERS = { name: TITLE_NAME_SCHEMA, requiresTitleAndComments: TRUTH_SCHEMA };
const hasShape = compileSchema(closed({ id: true, type: true, ...MEMBERS }, ['name']));

/** Only an unrestricted key creates or deletes workspaces. */
const EVERYTHING: Demands = { reach: 'everything' };

export const WORKSPACE_ENDPOINTS: Endpoints = {
  'GET /workspaces': {
    contract: { query: PAGE_QUERY },
    summary: 'List workspaces',
    answer: answerPage('Workspace'),
    query: WORKSPACE_QUERY,
    read: readWorkspaces,
  },
  'GET /environments/ws/:ws': {
    contract: {},
    summary: 'List environments',
    answer: answerList('Environment'),
    read: at('workspace', {}, readEnvironments),
  },
  'GET /rolloutStatuses': {
    contract: { query: ROLLOUT_STATUS_QUERY },
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    query: ROLLOUT_STATUS_QUERY,
    read: readStatusesByQuery,
  },
  'GET /rolloutStatuses/ws/:ws': {
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    read: at('workspace', {}, async ({ db, workspace }) => readRolloutStatuses(db, workspace)),
  },
  'GET /trafficTypes/ws/:ws': {
    summary: 'List traffic types',
    answer: answerList('TrafficType'),
    read: at('workspace', {}, async ({ db, workspace }) =>
      (await listTrafficTypes(db, workspace.id)).map(wireTrafficType),
    ),
  },
  'POST /workspaces': {
    summary: 'Create a workspace without environments',
    answer: answer('Workspace'),
    body: closed({ ...MEMBERS, ...WORDS_MEMBERS }, ['name']),
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
    body: ENVIRONMENT_BODY,
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

/** Reads all of them, because a store has few. */
async function readWorkspaces(
  db: Db,
  { query, caller }: ApiRequest,
): Promise<WirePage<WireWorkspace>> {
  const { offset, limit } = pageFrom(query, PAGE_SIZES.workspaces);
  const isMeant = nameFilter(query);
  const all = await listWorkspaces(db, caller.scope.workspaces);
  const rows = all.filter(({ name }) => isMeant(name));
  const objects = rows.slice(offset, offset + limit).map(wireWorkspace);
  return { objects, offset, limit, totalCount: rows.length };
}

const COMPARISONS = new Map([
  ['IS', (name: string, text: string) => name === text],
  ['STARTS_WITH', (name: string, text: string) => name.startsWith(text)],
  ['CONTAINS', (name: string, text: string) => name.includes(text)],
]);

function nameFilter({ name, nameOp }: ApiRequest['query']): (name: string) => boolean {
  const isSame = COMPARISONS.get(givenText(nameOp) ?? 'IS');
  if (isSame === undefined) throw badRequest('nameOp must be IS, STARTS_WITH or CONTAINS');
  const text = givenText(name);
  return (each) => text === undefined || isSame(each, text);
}

/** Without a workspace in the query, those of all that the key sees, sorted by the names of the workspaces. */
async function readStatusesByQuery(
  db: Db,
  { query: { wsId }, caller }: ApiRequest,
): Promise<WireRolloutStatus[]> {
  const named = givenText(wsId);
  if (named !== undefined) {
    return readRolloutStatuses(db, await workspaceCalled(db, caller, named));
  }
  const statuses: WireRolloutStatus[] = [];
  for (const workspace of await listWorkspaces(db, caller.scope.workspaces)) {
    statuses.push(...(await readRolloutStatuses(db, workspace)));
  }
  return statuses;
}

async function readRolloutStatuses(db: Db, workspace: WorkspaceRow): Promise<WireRolloutStatus[]> {
  const rows = await listRolloutStatuses(db, workspace.id);
  return rows.map(({ id, name, description }) => ({ id, name, description }));
}

function wireWorkspace(row: WorkspaceRow): WireWorkspace {
  return {
    name: row.name,
    type: 'workspace',
    id: row.id,
    requiresTitleAndComments: row.requires_title_and_comments === 1,
  };
}

/** The contract's `id` and `name`, and the members that public samples show beside them. */
function wireTrafficType(row: TrafficTypeRow): WireTrafficType {
  return {
    id: row.id,
    name: row.name,
    displayAttributeId: row.display_attribute_id,
    // Clients that have just created a traffic type look up the list of its workspace by this.
    workspace: { type: 'workspace', id: row.workspace_id },
  };
}

function contentFrom(given: unknown): WorkspaceContent {
  const { name, requiresTitleAndComments } = given as {
    readonly name: string;
    readonly requiresTitleAndComments?: unknown;
  };
  checkTitleName('Workspace', name);
  return { name, requiresTitleAndComments: isTrue(requiresTitleAndComments) };
}

async function addWorkspace({ db, caller, body }: Work<'nothing'>): Promise<WireWorkspace> {
  const content = contentFrom(body);
  await checkNameFree(db, content.name);
  const workspace = wireWorkspace(await insertWorkspace(db, content));
  return recordObject({ db, caller, workspace }, 'workspace', null, workspace);
}

/** Also compares with ids: a workspace whose name is the id of another could not be found by that name. */
async function checkNameFree(db: Db, name: string): Promise<void> {
  if (await findWorkspace(db, name)) throw conflict(`Workspace ${name} already exists`);
}

async function patchWorkspace(work: Work<'workspace'>): Promise<WireWorkspace> {
  const { db, workspace } = work;
  const before = wireWorkspace(workspace);
  const after = applyPatch(before, work.body as PatchOperation[]);
  checkShape(hasShape, after, 'Workspace');
  checkUntouched(before, after as object, ['id', 'type']);
  const content = contentFrom(after);
  if (content.name !== before.name) await checkNameFree(db, content.name);
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
  const added = wireTrafficType(await insertTrafficType(db, workspace.id, name));
  return recordObject(work, 'traffic-type', null, added);
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
