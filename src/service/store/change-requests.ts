import { sql, type Selectable } from 'kysely';
import type { WireRef } from '../../admin-api/wire.js';
import type { DefinitionContent } from '../rules/definition.js';
import type {
  ChangeRequestKind,
  ChangeRequestOperation,
  ChangeRequestStatus,
  ChangeRequestTable,
  Db,
  Within,
} from './tables.js';

export interface StoredChangeRequest extends Selectable<ChangeRequestTable> {
  readonly environment_name: string;
  /** null if the flag does not exist any more, and for segments. */
  readonly flag_id: string | null;
}

function selectChangeRequests(db: Db) {
  return db
    .selectFrom('change_requests')
    .innerJoin('environments', 'environments.id', 'change_requests.environment_id')
    .leftJoin('flags', (join) =>
      join
        .onRef('flags.workspace_id', '=', 'change_requests.workspace_id')
        .onRef('flags.name', '=', 'change_requests.name')
        .on('change_requests.kind', '=', 'flag'),
    )
    .selectAll('change_requests')
    .select(['environments.name as environment_name', 'flags.id as flag_id']);
}

export async function findChangeRequest(
  db: Db,
  id: string,
): Promise<StoredChangeRequest | undefined> {
  return selectChangeRequests(db).where('change_requests.id', '=', id).executeTakeFirst();
}

/** All given conditions have to match. */
interface ChangeRequestFilter {
  /** Ids of the workspaces and environments that the caller's key sees; null means all. */
  readonly workspaces: readonly string[] | null;
  readonly environments: readonly string[] | null;
  /** Id or name. */
  readonly environment?: string | undefined;
  readonly status?: string | undefined;
  /** Older than the one at this position. */
  readonly before?: number | undefined;
}

export async function listChangeRequests(
  db: Db,
  { workspaces, environments, environment, status, before }: ChangeRequestFilter,
  limit: number,
): Promise<StoredChangeRequest[]> {
  let query = selectChangeRequests(db).orderBy('change_requests.position', 'desc').limit(limit);
  if (workspaces !== null) query = query.where('change_requests.workspace_id', 'in', workspaces);
  if (environments !== null) query = query.where('environments.id', 'in', environments);
  if (environment !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('environments.id', '=', environment), eb('environments.name', '=', environment)]),
    );
  }
  if (status !== undefined) {
    query = query.where('change_requests.status', '=', status as ChangeRequestStatus);
  }
  if (before !== undefined) query = query.where('change_requests.position', '<', before);
  return query.execute();
}

export type RequestedObject = Pick<ChangeRequestTable, 'kind' | 'name'> & {
  /** Default: any. */
  readonly operation?: ChangeRequestOperation;
};

/** The ids of the open change requests for an object, the oldest first. */
export async function openChangeRequests(
  db: Db,
  { workspace, environment }: Within,
  { kind, name, operation }: RequestedObject,
): Promise<string[]> {
  let query = db
    .selectFrom('change_requests')
    .where('workspace_id', '=', workspace.id)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('status', '=', 'REQUESTED');
  if (environment) query = query.where('environment_id', '=', environment.id);
  if (operation) query = query.where('operation', '=', operation);
  const rows = await query.select('id').orderBy('position').execute();
  return rows.map(({ id }) => id);
}

export async function openChangeRequestsBefore(
  db: Db,
  time: number,
): Promise<StoredChangeRequest[]> {
  return selectChangeRequests(db)
    .where('status', '=', 'REQUESTED')
    .where('change_requests.creation_time', '<', time)
    .orderBy('position')
    .execute();
}

const HELD = {
  flag: { table: 'definitions', column: 'flag_id', objects: 'flags' },
  segment: { table: 'activations', column: 'segment_id', objects: 'segments' },
} as const satisfies Readonly<Record<ChangeRequestKind, object>>;

/** Adds a request, and blocks its object with the id, if the object exists and no older request blocks it. */
export async function insertChangeRequest(
  db: Db,
  request: Omit<ChangeRequestTable, 'position'>,
): Promise<void> {
  await db.insertInto('change_requests').values(request).execute();
  const { table, column, objects } = HELD[request.kind];
  await sql`
    update ${sql.table(table)} set open_change_request_id = ${request.id}
    where environment_id = ${request.environment_id} and open_change_request_id is null and ${sql.ref(column)} in (
      select id from ${sql.table(objects)}
      where workspace_id = ${request.workspace_id} and name = ${request.name})`.execute(db);
}

/** Closes a request. Its object is then blocked by the next open one, if there is one. */
export async function closeChangeRequest(
  db: Db,
  { id, kind, name, workspace_id, environment_id }: StoredChangeRequest,
  end: Pick<ChangeRequestTable, 'status' | 'comments_json'>,
): Promise<void> {
  await db.updateTable('change_requests').set(end).where('id', '=', id).execute();
  const place = { workspace: { id: workspace_id }, environment: { id: environment_id } };
  const [next = null] = await openChangeRequests(db, place, { kind, name });
  await sql`
    update ${sql.table(HELD[kind].table)} set open_change_request_id = ${next}
    where environment_id = ${environment_id} and open_change_request_id = ${id}`.execute(db);
}

export interface RequestComment {
  readonly comment: string | null;
  readonly user: string;
  readonly role: 'SUBMITTER' | 'APPROVER';
  readonly timestamp: number;
}

export function approversOf({ approvers_json }: StoredChangeRequest): WireRef[] {
  return JSON.parse(approvers_json) as WireRef[];
}

/** Clients look into both `split` and `segment`, so the one that does not apply is null. */
export function wireChangeRequest(row: StoredChangeRequest) {
  const environment = { id: row.environment_id, name: row.environment_name };
  return {
    id: row.id,
    status: row.status,
    operationType: row.operation,
    title: row.title,
    comment: row.comment,
    split: null,
    segment: null,
    ...SHOWN[row.kind](row, environment),
    workspace: { type: 'workspace', id: row.workspace_id },
    environment,
    approvers: approversOf(row).map(({ name }) => name),
    comments: JSON.parse(row.comments_json) as RequestComment[],
    rolloutStatus: row.rollout_status_id === null ? null : { id: row.rollout_status_id },
    creationTime: row.creation_time,
  };
}

type Show = (row: StoredChangeRequest, environment: object) => object;

const SHOWN: Readonly<Record<ChangeRequestKind, Show>> = {
  flag: ({ flag_id: id, name, content_json }, environment) => {
    const content = JSON.parse(content_json) as DefinitionContent | null;
    const { killed, body } = content ?? {};
    const own = { ...(id !== null && { id }), name, environment };
    return { split: { ...own, ...(killed !== undefined && { killed }), ...body } };
  },
  segment: ({ name, content_json }) => ({
    segment: { name, keys: JSON.parse(content_json) as string[] },
  }),
};
