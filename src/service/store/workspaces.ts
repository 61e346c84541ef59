import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { firstRow, insert, sorted, statement, statements } from './statement.js';
import type {
  Db,
  EnvironmentRow,
  RolloutStatusRow,
  Tables,
  TrafficTypeRow,
  WorkspaceRow,
} from './tables.js';

/** The workspaces with these ids, or all for null; sorted by name. */
export async function listWorkspaces(
  db: Db,
  ids: readonly string[] | null = null,
): Promise<WorkspaceRow[]> {
  return (await allWorkspaces(db)).filter(({ id }) => ids === null || ids.includes(id));
}

const allWorkspaces = statement<WorkspaceRow, []>(
  'select * from workspaces order by sort_name, id',
);

/** All lookups here take the id before the name, in case the name of one object is the id of another. */
export async function findWorkspace(db: Db, idOrName: string): Promise<WorkspaceRow | undefined> {
  return byIdFirst(await workspacesCalled(db, idOrName), idOrName);
}

const workspacesCalled = statement<WorkspaceRow>(
  'select * from workspaces where id = $1 or name = $1',
);

function byIdFirst<T extends { id: string }>(rows: readonly T[], id: string): T | undefined {
  return rows.find((row) => row.id === id) ?? rows[0];
}

/** In the order of their creation; the contract demands no order. */
export const listEnvironments = statement<EnvironmentRow, [workspaceId: string]>(
  'select * from environments where workspace_id = $1 order by creation_time, sort_name',
);

export async function findEnvironment(
  db: Db,
  workspaceId: string,
  idOrName: string,
): Promise<EnvironmentRow | undefined> {
  const rows = await environmentsCalled(db, idOrName);
  return byIdFirst(
    rows.filter((row) => row.workspace_id === workspaceId),
    idOrName,
  );
}

/** Environments of all workspaces with this id or name: an id belongs to one, a name may belong to many. */
export const environmentsCalled = statement<EnvironmentRow>(
  'select * from environments where id = $1 or name = $1',
);

export const listTrafficTypes = statement<TrafficTypeRow, [workspaceId: string]>(
  'select * from traffic_types where workspace_id = $1 order by lower(name), name',
);

export async function findTrafficType(
  db: Db,
  workspaceId: string,
  idOrName: string,
): Promise<TrafficTypeRow | undefined> {
  const rows = await listTrafficTypes(db, workspaceId);
  return rows.find((row) => row.id === idOrName) ?? rows.find((row) => row.name === idOrName);
}

/** In the order of their positions; a new flag has the first. */
export const listRolloutStatuses = statement<RolloutStatusRow, [workspaceId: string]>(
  'select * from rollout_statuses where workspace_id = $1 order by position',
);

/**
 * In the order of their positions; a new flag has the first. The contract shows four of the names and no descriptions;
 * the other names are those of public documentation.
 */
const ROLLOUT_STATUSES: readonly (readonly [name: string, description: string])[] = [
  ['Pre-Production', 'The code of the flag has not reached production yet'],
  ['Internal Testing', 'Served to people of the house'],
  ['Pre-Release', 'Served to chosen customers before the release'],
  ['Ramping', 'Served to a growing share of the traffic'],
  ['Experimenting', 'Served to compare treatments'],
  ['100% Released', 'Served to everybody'],
  ['Permanent', 'Stays as a switch'],
  ['Killed', 'Taken back by a kill'],
  ['Removed from code', 'No code asks for the flag any more'],
];

export interface WorkspaceContent {
  readonly name: string;
  readonly requiresTitleAndComments: boolean;
}

const workspaceColumns = ({ name, requiresTitleAndComments }: WorkspaceContent) =>
  sorted({ name, requires_title_and_comments: Number(requiresTitleAndComments) });

/** With the rollout statuses of a new workspace. */
export async function insertWorkspace(
  db: Db,
  content: WorkspaceContent,
  id: string = randomUUID(),
): Promise<WorkspaceRow> {
  const workspace = { id, ...workspaceColumns(content) };
  await insert(db, 'workspaces', [workspace]);
  const statuses = ROLLOUT_STATUSES.map(([name, description], position) => {
    return { id: randomUUID(), workspace_id: id, name, description, position };
  });
  await insert(db, 'rollout_statuses', statuses);
  return workspace;
}

export async function updateWorkspace(
  db: Db,
  id: string,
  content: WorkspaceContent,
): Promise<void> {
  await db.updateTable('workspaces').set(workspaceColumns(content)).where('id', '=', id).execute();
}

/** Deletes a workspace with its traffic types, their attributes, and rollout statuses. It must have nothing else. */
export const deleteWorkspace = statements<[id: string]>(
  'delete from attributes where traffic_type_id in (select id from traffic_types where workspace_id = $1)',
  'delete from traffic_types where workspace_id = $1',
  'delete from rollout_statuses where workspace_id = $1',
  'delete from archived_flags where workspace_id = $1',
  'delete from workspaces where id = $1',
);

/** Truth values that are absent are false. */
export interface EnvironmentContent {
  readonly name: string;
  readonly production?: boolean;
  readonly approvalsRequired?: boolean;
  /** Allows kills even if changes require approvals. */
  readonly allowKills?: boolean;
}

function environmentColumns(content: EnvironmentContent) {
  const { name, production = false, approvalsRequired = false, allowKills = false } = content;
  return sorted({
    name,
    production: Number(production),
    approvals_required: Number(approvalsRequired),
    allow_kills: Number(allowKills),
  });
}

export async function insertEnvironment(
  db: Db,
  workspaceId: string,
  content: EnvironmentContent,
  now: number,
): Promise<EnvironmentRow> {
  const ids = { id: randomUUID(), workspace_id: workspaceId };
  const environment = { ...ids, creation_time: now, ...environmentColumns(content) };
  await insert(db, 'environments', [environment]);
  return environment;
}

export async function updateEnvironment(
  db: Db,
  before: EnvironmentRow,
  content: EnvironmentContent,
): Promise<EnvironmentRow> {
  const columns = environmentColumns(content);
  await db.updateTable('environments').set(columns).where('id', '=', before.id).execute();
  return { ...before, ...columns };
}

/** Deletes an environment with its identities. It must have neither definitions nor activations. */
export const deleteEnvironment = statements<[id: string]>(
  'delete from identities where environment_id = $1',
  'delete from change_requests where environment_id = $1',
  'delete from key_changes where environment_id = $1',
  'delete from environments where id = $1',
);

export async function insertTrafficType(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<TrafficTypeRow> {
  const row = { id: randomUUID(), workspace_id: workspaceId, name, display_attribute_id: null };
  await insert(db, 'traffic_types', [row]);
  return row;
}

/** By id alone, because traffic types of several workspaces may have the same name. */
export const findTrafficTypeAnywhere = firstRow<TrafficTypeRow, [id: string]>(
  'select * from traffic_types where id = $1',
);

/** Deletes a traffic type with its attributes. Nothing else may refer to it any more. */
export const deleteTrafficType = statements<[id: string]>(
  'delete from attributes where traffic_type_id = $1',
  'delete from traffic_types where id = $1',
);

export async function countUses<Table extends keyof Tables>(
  db: Db,
  table: Table,
  column: keyof Tables[Table] & string,
  id: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(db);
  return rows[0]?.count ?? 0;
}
