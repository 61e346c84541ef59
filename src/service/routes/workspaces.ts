/**
 * Endpoints of workspaces, environments, rollout statuses and traffic types. The contract lists the first three alone.
 * With a restricted key, lists hold and count only the objects that the key may touch.
 */

import type { WireRolloutStatus, WireTrafficType, WireWorkspace } from '../../admin-api/wire.js';
import { recordObject } from '../change-log.js';
import { isVisible, type ApiRequest, type Endpoints } from '../http/endpoint.js';
import { at, SHARED, workspaceCalled, type Demands } from '../http/place.js';
import { badRequest, conflict, notFound } from '../http/problem.js';
import { PATCH_BODY, patchedObject } from '../rules/json-patch.js';
import {
  checkTitleName,
  givenText,
  isTrue,
  NAME_SCHEMA,
  PAGE_QUERY,
  pageFrom,
  textParameter,
  TITLE_NAME_SCHEMA,
  TRUTH_SCHEMA,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { closed, compileSchema } from '../rules/shape.js';
import type { Db, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import {
  deleteTrafficType,
  deleteWorkspace,
  findTrafficType,
  findTrafficTypeAnywhere,
  findWorkspace,
  insertTrafficType,
  insertWorkspace,
  listEnvironments,
  listRolloutStatuses,
  listTrafficTypes,
  listWorkspaces,
  updateWorkspace,
  type WorkspaceContent,
} from '../store/workspaces.js';
import { answer, answerList, answerPage } from './answer-schemas.js';
import { checkEmpty } from './checked-definition.js';
import { ENVIRONMENT_CHANGES, wireEnvironment } from './environments.js';

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
const PATCHED = {
  hasShape: compileSchema(closed({ id: true, type: true, ...MEMBERS }, ['name'])),
  fixed: ['id', 'type'],
};

/** Only an unrestricted key creates or deletes workspaces. */
const EVERYTHING: Demands = { reach: 'everything' };

export const WORKSPACE_ENDPOINTS: Endpoints = {
  'GET /workspaces': {
    contract: { query: PAGE_QUERY },
    summary: 'List workspaces',
    answer: answerPage('Workspace'),
    query: WORKSPACE_QUERY,
    // All of them, because a store has few.
    read: at('nothing', {}, async ({ db, query, caller }) => {
      const { offset, limit } = pageFrom(query, 'workspaces');
      const isMeant = nameFilter(query);
      const all = await listWorkspaces(db, caller.scope.workspaces);
      const rows = all.filter(({ name }) => isMeant(name));
      const objects = rows.slice(offset, offset + limit).map(wireWorkspace);
      return { objects, offset, limit, totalCount: rows.length };
    }),
  },
  'GET /environments/ws/:ws': {
    contract: {},
    summary: 'List environments',
    answer: answerList('Environment'),
    read: at('workspace', {}, async ({ db, workspace, caller }) =>
      (await listEnvironments(db, workspace.id))
        .filter(({ id }) => isVisible(caller.scope.environments, id))
        .map(wireEnvironment),
    ),
  },
  'GET /rolloutStatuses': {
    contract: { query: ROLLOUT_STATUS_QUERY },
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    query: ROLLOUT_STATUS_QUERY,
    // Without a workspace in the query, those of all that the key sees, sorted by the names of the workspaces.
    read: at('nothing', {}, async ({ db, query, caller }) => {
      const named = givenText(query['wsId']);
      const workspaces =
        named === undefined
          ? await listWorkspaces(db, caller.scope.workspaces)
          : [await workspaceCalled(db, caller, named)];
      const statuses: WireRolloutStatus[] = [];
      for (const { id } of workspaces) statuses.push(...(await rolloutStatusesOf(db, id)));
      return statuses;
    }),
  },
  'GET /rolloutStatuses/ws/:ws': {
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    read: at('workspace', {}, async ({ db, workspace }) => rolloutStatusesOf(db, workspace.id)),
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
    write: at('nothing', EVERYTHING, async ({ db, caller, body }) => {
      const content = contentFrom(body);
      await checkNameFree(db, content.name);
      const workspace = wireWorkspace(await insertWorkspace(db, content));
      return recordObject({ db, caller, workspace }, 'workspace', null, workspace);
    }),
  },
  'PATCH /workspaces/:ws': {
    summary: 'Change a workspace',
    answer: answer('Workspace'),
    body: PATCH_BODY,
    write: at('workspace', SHARED, async (work) => {
      const { db, workspace } = work;
      const before = wireWorkspace(workspace);
      const content = contentFrom(patchedObject('Workspace', before, work.body, PATCHED));
      if (content.name !== before.name) await checkNameFree(db, content.name);
      await updateWorkspace(db, workspace.id, content);
      return recordObject(work, 'workspace', before, { ...before, ...content });
    }),
  },
  'DELETE /workspaces/:ws': {
    summary: 'Delete a workspace that holds nothing any more',
    answer: answer('True'),
    write: at('workspace', EVERYTHING, async (work) => {
      const { db, workspace } = work;
      const parts = ['environments', 'flags', 'segments'] as const;
      const subject = `Workspace ${workspace.name} still has`;
      await checkEmpty(db, parts, 'workspace_id', workspace.id, subject);
      await deleteWorkspace(db, workspace.id);
      await recordObject(work, 'workspace', wireWorkspace(workspace), null);
      return true;
    }),
  },
  'POST /trafficTypes/ws/:ws': {
    summary: 'Create a traffic type',
    answer: answer('TrafficType'),
    body: closed({ name: NAME_SCHEMA, ...WORDS_MEMBERS }, ['name']),
    write: at('workspace', SHARED, async (work) => {
      const { db, workspace } = work;
      const { name } = work.body as { name: string };
      if (await findTrafficType(db, workspace.id, name)) {
        throw conflict(`Traffic type ${name} already exists`);
      }
      const added = wireTrafficType(await insertTrafficType(db, workspace.id, name));
      return recordObject(work, 'traffic-type', null, added);
    }),
  },
  'DELETE /trafficTypes/:trafficType': {
    summary: 'Delete a traffic type that nothing uses',
    answer: answer('True'),
    // The path names no workspace, so a name would be ambiguous, and only an id is taken.
    write: at('nothing', SHARED, async ({ db, caller, params }) => {
      const { trafficType: id = '' } = params;
      const row = await findTrafficTypeAnywhere(db, id);
      if (row === undefined || !isVisible(caller.scope.workspaces, row.workspace_id)) {
        throw notFound('traffic type', id);
      }
      const users = ['flags', 'segments', 'identities'] as const;
      await checkEmpty(db, users, 'traffic_type_id', row.id, `Traffic type ${row.name} is used by`);
      await deleteTrafficType(db, row.id);
      const workspace = { id: row.workspace_id };
      await recordObject({ db, caller, workspace }, 'traffic-type', wireTrafficType(row), null);
      return true;
    }),
  },
  ...ENVIRONMENT_CHANGES,
};

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

async function rolloutStatusesOf(db: Db, workspaceId: string): Promise<WireRolloutStatus[]> {
  const rows = await listRolloutStatuses(db, workspaceId);
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

/** Compares with ids too: a workspace whose name is the id of another could not be found by that name. */
async function checkNameFree(db: Db, name: string): Promise<void> {
  if (await findWorkspace(db, name)) throw conflict(`Workspace ${name} already exists`);
}
