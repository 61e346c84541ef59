import { sql } from 'kysely';
import type { Page } from '../rules/paging.js';
import { sortName } from '../rules/names.js';
import type {
  Db,
  EnvironmentRow,
  RolloutStatusRow,
  TrafficTypeRow,
  WorkspaceRow,
} from './tables.js';

export interface WorkspaceFilter {
  /** Ids; null: all. */
  readonly ids: readonly string[] | null;
  readonly name?:
    { readonly is: string } | { readonly startsWith: string } | { readonly contains: string };
}

/** In the order of names. */
export async function listWorkspaces(db: Db, filter: WorkspaceFilter): Promise<WorkspaceRow[]> {
  const rows = await db
    .selectFrom('workspaces')
    .selectAll()
    .orderBy('sort_name')
    .orderBy('id')
    .execute();
  return rows.filter((row) => matches(row, filter));
}

function matches(row: WorkspaceRow, { ids, name }: WorkspaceFilter): boolean {
  if (ids !== null && !ids.includes(row.id)) return false;
  if (name === undefined) return true;
  if ('is' in name) return row.name === name.is;
  return 'startsWith' in name
    ? row.name.startsWith(name.startsWith)
    : row.name.includes(name.contains);
}

export function pageOf<T>(rows: readonly T[], page: Page): T[] {
  return rows.slice(page.offset, page.offset + page.limit);
}

export async function findWorkspace(db: Db, idOrName: string): Promise<WorkspaceRow | undefined> {
  const rows = await db
    .selectFrom('workspaces')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .execute();
  return byIdFirst(rows, idOrName);
}

function byIdFirst<T extends { id: string }>(rows: readonly T[], id: string): T | undefined {
  return rows.find((row) => row.id === id) ?? rows[0];
}

export async function insertWorkspace(
  db: Db,
  workspace: { id: string; name: string; requiresTitleAndComments: boolean },
): Promise<void> {
  await db
    .insertInto('workspaces')
    .values({
      id: workspace.id,
      name: workspace.name,
      sort_name: sortName(workspace.name),
      requires_title_and_comments: Number(workspace.requiresTitleAndComments),
    })
    .execute();
}

/** In the order of their creation. */
export async function listEnvironments(db: Db, workspaceId: string): Promise<EnvironmentRow[]> {
  return db
    .selectFrom('environments')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('creation_time')
    .orderBy('sort_name')
    .execute();
}

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

/** Of all workspaces; an id is of one, a name may be of many. */
export async function environmentsCalled(db: Db, idOrName: string): Promise<EnvironmentRow[]> {
  return db
    .selectFrom('environments')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .execute();
}

export async function insertEnvironment(
  db: Db,
  environment: Omit<EnvironmentRow, 'sort_name'>,
): Promise<void> {
  await db
    .insertInto('environments')
    .values({ ...environment, sort_name: sortName(environment.name) })
    .execute();
}

export async function listTrafficTypes(db: Db, workspaceId: string): Promise<TrafficTypeRow[]> {
  return db
    .selectFrom('traffic_types')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('name')
    .execute();
}

export async function findTrafficType(
  db: Db,
  workspaceId: string,
  idOrName: string,
): Promise<TrafficTypeRow | undefined> {
  const rows = await listTrafficTypes(db, workspaceId);
  return rows.find((row) => row.id === idOrName) ?? rows.find((row) => row.name === idOrName);
}

export async function insertTrafficType(db: Db, trafficType: TrafficTypeRow): Promise<void> {
  await db.insertInto('traffic_types').values(trafficType).execute();
}

export async function listRolloutStatuses(
  db: Db,
  workspaceId: string,
): Promise<RolloutStatusRow[]> {
  return db
    .selectFrom('rollout_statuses')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('position')
    .execute();
}

export async function insertRolloutStatuses(
  db: Db,
  statuses: readonly RolloutStatusRow[],
): Promise<void> {
  await db
    .insertInto('rollout_statuses')
    .values([...statuses])
    .execute();
}

export async function updateWorkspace(
  db: Db,
  id: string,
  { name, requiresTitleAndComments }: { name: string; requiresTitleAndComments: boolean },
): Promise<void> {
  await db
    .updateTable('workspaces')
    .set({
      name,
      sort_name: sortName(name),
      requires_title_and_comments: Number(requiresTitleAndComments),
    })
    .where('id', '=', id)
    .execute();
}

/** With its traffic types and rollout statuses; nothing else may be left in it. */
export async function deleteWorkspace(db: Db, id: string): Promise<void> {
  await db.deleteFrom('traffic_types').where('workspace_id', '=', id).execute();
  await db.deleteFrom('rollout_statuses').where('workspace_id', '=', id).execute();
  await db.deleteFrom('workspaces').where('id', '=', id).execute();
}

export async function updateEnvironment(
  db: Db,
  id: string,
  changed: Pick<EnvironmentRow, 'name' | 'production' | 'approvals_required' | 'allow_kills'>,
): Promise<void> {
  await db
    .updateTable('environments')
    .set({ ...changed, sort_name: sortName(changed.name) })
    .where('id', '=', id)
    .execute();
}

/** With its identities; neither definitions nor activations may be left in it. */
export async function deleteEnvironment(db: Db, id: string): Promise<void> {
  await db.deleteFrom('identities').where('environment_id', '=', id).execute();
  await db.deleteFrom('environments').where('id', '=', id).execute();
}

export async function findTrafficTypeAnywhere(
  db: Db,
  id: string,
): Promise<TrafficTypeRow | undefined> {
  return db.selectFrom('traffic_types').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function deleteTrafficType(db: Db, id: string): Promise<void> {
  await db.deleteFrom('traffic_types').where('id', '=', id).execute();
}

type Used =
  | [table: 'environments' | 'flags' | 'segments', column: 'workspace_id']
  | [table: 'flags' | 'segments' | 'identities', column: 'traffic_type_id']
  | [table: 'definitions' | 'activations', column: 'environment_id'];

/** How many rows of a table refer to something. */
export async function countUses(
  db: Db,
  ...[table, column, id]: [...Used, string]
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(db);
  return rows[0]?.count ?? 0;
}
