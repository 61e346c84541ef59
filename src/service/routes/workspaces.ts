import type {
  WireEnvironment,
  WirePage,
  WireRolloutStatus,
  WireTrafficType,
  WireWorkspace,
} from '../../api/wire.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import { isVisible, workspaceAt, workspaceCalled } from '../places.js';
import { badRequest } from '../problem.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import type { Db, EnvironmentRow, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import {
  listEnvironments,
  listRolloutStatuses,
  listTrafficTypes,
  listWorkspaces,
  pageOf,
  type WorkspaceFilter,
} from '../store/workspaces.js';
import { answerList, answerPage } from './answer-schemas.js';
import { ROLLOUT_STATUS_QUERY, WORKSPACE_QUERY } from './query-schemas.js';

export const WORKSPACE_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: '/workspaces',
    inContract: true,
    summary: 'List workspaces',
    answer: answerPage('Workspace'),
    query: WORKSPACE_QUERY,
    read: readWorkspaces,
  },
  {
    methods: ['GET'],
    path: '/environments/ws/:ws',
    inContract: true,
    summary: 'List environments',
    answer: answerList('Environment'),
    read: readEnvironments,
  },
  {
    methods: ['GET'],
    path: '/rolloutStatuses',
    inContract: true,
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    query: ROLLOUT_STATUS_QUERY,
    read: async (db, request) => {
      const { wsId } = request.query;
      if (typeof wsId !== 'string' || wsId === '') throw badRequest('wsId must name a workspace');
      return readRolloutStatuses(db, await workspaceCalled(db, request.caller, wsId));
    },
  },
  {
    methods: ['GET'],
    path: '/rolloutStatuses/ws/:ws',
    inContract: false,
    summary: 'List rollout statuses',
    answer: answerList('RolloutStatus'),
    read: async (db, request) => readRolloutStatuses(db, await workspaceAt(db, request)),
  },
  {
    methods: ['GET'],
    path: '/trafficTypes/ws/:ws',
    inContract: false,
    summary: 'List traffic types',
    answer: answerList('TrafficType'),
    read: readTrafficTypes,
  },
];

async function readWorkspaces(
  db: Db,
  { query, caller }: ApiRequest,
): Promise<WirePage<WireWorkspace>> {
  const page = pageFrom(query, PAGE_SIZES.workspaces);
  const name = nameFilter(query);
  const rows = await listWorkspaces(db, {
    ids: caller.scope.workspaces,
    ...(name === undefined ? {} : { name }),
  });
  return {
    objects: pageOf(rows, page).map(wireWorkspace),
    ...page,
    totalCount: rows.length,
  };
}

function nameFilter({ name, nameOp }: ApiRequest['query']): WorkspaceFilter['name'] {
  if (typeof name !== 'string' || name === '') return undefined;
  switch (nameOp) {
    case undefined:
    case '':
    case 'IS':
      return { is: name };
    case 'STARTS_WITH':
      return { startsWith: name };
    case 'CONTAINS':
      return { contains: name };
    default:
      throw badRequest('nameOp must be IS, STARTS_WITH or CONTAINS');
  }
}

async function readEnvironments(db: Db, request: ApiRequest): Promise<WireEnvironment[]> {
  const workspace = await workspaceAt(db, request);
  const rows = await listEnvironments(db, workspace.id);
  return rows
    .filter(({ id }) => isVisible(request.caller.scope.environments, id))
    .map(wireEnvironment);
}

async function readRolloutStatuses(db: Db, workspace: WorkspaceRow): Promise<WireRolloutStatus[]> {
  const rows = await listRolloutStatuses(db, workspace.id);
  return rows.map(({ id, name, description }) => ({ id, name, description }));
}

async function readTrafficTypes(db: Db, request: ApiRequest): Promise<WireTrafficType[]> {
  const workspace = await workspaceAt(db, request);
  return (await listTrafficTypes(db, workspace.id)).map(wireTrafficType);
}

export function wireWorkspace(row: WorkspaceRow): WireWorkspace {
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

export function wireTrafficType(row: TrafficTypeRow): WireTrafficType {
  return {
    id: row.id,
    name: row.name,
    displayAttributeId: row.display_attribute_id,
    // Clients that have just created one ask by this for the list that it stands in.
    workspace: { type: 'workspace', id: row.workspace_id },
  };
}
