/**
 * Endpoints that list workspaces, environments, rollout statuses and traffic types, and the shapes of these in answers.
 * With a restricted key, lists hold and count only the objects that the key may touch.
 */

import type {
  WireEnvironment,
  WirePage,
  WireRolloutStatus,
  WireTrafficType,
  WireWorkspace,
} from '../../admin-api/wire.js';
import { isVisible, type ApiRequest, type Endpoints } from '../http/endpoint.js';
import { at, workspaceCalled, type Work } from '../http/place.js';
import { badRequest } from '../http/problem.js';
import {
  givenText,
  PAGE_SIZES,
  pageFrom,
  PAGE_QUERY,
  textParameter,
  type QuerySchema,
} from '../rules/members.js';
import type { Db, EnvironmentRow, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import {
  listEnvironments,
  listRolloutStatuses,
  listTrafficTypes,
  listWorkspaces,
} from '../store/workspaces.js';
import { answerList, answerPage } from './answer-schemas.js';

const WORKSPACE_QUERY: QuerySchema = {
  ...PAGE_QUERY,
  name: textParameter('Of the workspaces.'),
  nameOp: { enum: ['IS', 'STARTS_WITH', 'CONTAINS', ''], default: 'IS' },
};

/** The contract names the workspace of this list in the query and not in the path. */
const ROLLOUT_STATUS_QUERY: QuerySchema = {
  wsId: textParameter('Id or name of a workspace. Default: all workspaces that the key sees.'),
};

/** The contract's three first. */
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
};

/** Sorted by name. Reads all of them, because a store has few. */
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

const COMPARISONS: Readonly<Record<string, (name: string, text: string) => boolean>> = {
  IS: (name, text) => name === text,
  STARTS_WITH: (name, text) => name.startsWith(text),
  CONTAINS: (name, text) => name.includes(text),
};

function nameFilter({ name, nameOp }: ApiRequest['query']): (name: string) => boolean {
  const operator = givenText(nameOp) ?? 'IS';
  const isSame = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  if (isSame === undefined) throw badRequest('nameOp must be IS, STARTS_WITH or CONTAINS');
  const text = givenText(name);
  return (each) => text === undefined || isSame(each, text);
}

async function readEnvironments({
  db,
  workspace,
  caller,
}: Work<'workspace'>): Promise<WireEnvironment[]> {
  const rows = await listEnvironments(db, workspace.id);
  return rows.filter(({ id }) => isVisible(caller.scope.environments, id)).map(wireEnvironment);
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

export function wireWorkspace(row: Omit<WorkspaceRow, 'sort_name'>): WireWorkspace {
  return {
    name: row.name,
    type: 'workspace',
    id: row.id,
    requiresTitleAndComments: row.requires_title_and_comments === 1,
  };
}

export function wireEnvironment(row: EnvironmentRow): WireEnvironment {
  return { name: row.name, id: row.id, production: row.production === 1 };
}

/** The contract's `id` and `name`, and the members that public samples show beside them. */
export function wireTrafficType(row: TrafficTypeRow): WireTrafficType {
  return {
    id: row.id,
    name: row.name,
    displayAttributeId: row.display_attribute_id,
    // Clients that have just created a traffic type look up the list of its workspace by this.
    workspace: { type: 'workspace', id: row.workspace_id },
  };
}
