import { sql } from 'kysely';
import type { Page } from '../rules/paging.js';
import type { Dialect } from './migrations.js';
import { jsonRows, statement } from './statement.js';
import type { Db } from './tables.js';

export interface AuditEntry {
  /** Grows with every change. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly transactionId: string;
  readonly workspaceId: string | null;
  /** Name of the environment at the time of the change; null for changes at the level of the workspace. */
  readonly environment: string | null;
  readonly environmentId: string | null;
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  readonly title: string | null;
  readonly comment: string | null;
  /**
   * Id of the Admin API key; null for changes without one (seed, operator), and in entries of versions that recorded
   * names alone. The id of a lent key is in no list of keys.
   */
  readonly keyId: string | null;
  /** Name of the Admin API key. A later key may have the name of a revoked one. */
  readonly keyName: string | null;
  readonly difference: readonly unknown[];
}

export type AuditKind =
  | 'flag'
  | 'segment'
  | 'identity'
  | 'workspace'
  | 'environment'
  | 'traffic-type'
  | 'attribute'
  | 'admin-key'
  | 'audit-log';

/** The kind of change. `kill` and `restore` are changes of a definition that move `killed`. */
export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'archive'
  | 'unarchive'
  | 'kill'
  | 'restore'
  | 'reallocate'
  | 'activate'
  | 'deactivate'
  | 'add-keys'
  | 'remove-keys'
  | 'replace-keys'
  | 'request-change'
  | 'approve'
  | 'reject'
  | 'withdraw'
  | 'expire'
  | 'prune';

/** Selects entries; all given conditions have to match. */
export interface AuditFilter {
  readonly workspaceId?: string;
  /** Id or name. */
  readonly environment?: string;
  readonly kind?: string;
  readonly name?: string;
  /** Selects entries that are older than the one with this id. */
  readonly before?: number;
}

export async function insertAudit(db: Db, entry: Omit<AuditEntry, 'id'>): Promise<void> {
  await insertValues(db, ...valuesOf(entry));
}

/** The columns of `valuesOf`, in its order. */
const AUDIT_COLUMNS = `time, transaction_id, workspace_id, environment_id, environment_name, kind, name, action, title,
  comment, key_id, key_name, difference_json`;

const insertValues = statement(`
  insert into audit (${AUDIT_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`);

function valuesOf(entry: Omit<AuditEntry, 'id'>): (string | number | null)[] {
  return [
    entry.time,
    entry.transactionId,
    entry.workspaceId,
    entry.environmentId,
    entry.environment,
    entry.kind,
    entry.name,
    entry.action,
    entry.title,
    entry.comment,
    entry.keyId,
    entry.keyName,
    JSON.stringify(entry.difference),
  ];
}

/** Adds entries in their order, in one statement; the store gives each the next id. */
export async function insertAuditEntries(
  db: Db,
  dialect: Dialect,
  entries: readonly Omit<AuditEntry, 'id'>[],
): Promise<void> {
  const rows = entries.map(valuesOf);
  await sql`
    insert into audit (${sql.raw(AUDIT_COLUMNS)})
    select cast(value ->> 0 as bigint), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
      value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12
    from ${jsonRows(dialect, rows)}`.execute(db);
}

/** One page of the entries that match, the newest first; `totalCount` counts all that match. */
export async function listAudit(
  db: Db,
  filter: AuditFilter,
  page: Page,
): Promise<{ entries: AuditEntry[]; totalCount: number }> {
  let query = db.selectFrom('audit');
  if (filter.workspaceId !== undefined)
    query = query.where('workspace_id', '=', filter.workspaceId);
  const { environment } = filter;
  if (environment !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('environment_id', '=', environment), eb('environment_name', '=', environment)]),
    );
  }
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.name !== undefined) query = query.where('name', '=', filter.name);
  if (filter.before !== undefined) query = query.where('id', '<', filter.before);
  const { count } = await query
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectAll()
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const entries = rows.map((row) => ({
    id: row.id,
    time: row.time,
    transactionId: row.transaction_id,
    workspaceId: row.workspace_id,
    environment: row.environment_name,
    environmentId: row.environment_id,
    kind: row.kind as AuditKind,
    name: row.name,
    action: row.action as AuditAction,
    title: row.title,
    comment: row.comment,
    keyId: row.key_id,
    keyName: row.key_name,
    difference: JSON.parse(row.difference_json) as unknown[],
  }));
  return { entries, totalCount: count };
}

/** Flags whose definition in an environment may have changed behind an entry, each with its newest entry. */
export async function flagsChangedAfter(
  db: Db,
  { workspaceId, environmentId }: { readonly workspaceId: string; readonly environmentId: string },
  id: number,
): Promise<{ readonly name: string; readonly id: number }[]> {
  return changedFlags(db, workspaceId, environmentId, id);
}

const changedFlags = statement<{ name: string; id: number }>(`
  select name, max(id) as id from audit
  where workspace_id = $1 and kind = 'flag' and (environment_id = $2 or environment_id is null) and id > $3
  group by name`);

/** The oldest entry and the id of the newest; null while the log is empty. */
export async function endsOfAudit(
  db: Db,
): Promise<{ readonly id: number; readonly time: number; readonly newest: number } | null> {
  const [ends] = await auditEnds(db);
  return ends ?? null;
}

const auditEnds = statement<{ id: number; time: number; newest: number }>(`
  select id, time, (select max(id) from audit) as newest from audit order by id limit 1`);

/** Deletes in one transaction hold other writers up for milliseconds. */
const PRUNED_AT_ONCE = 5_000;

export interface OldEntry {
  readonly id: number;
  readonly workspaceId: string | null;
}

/**
 * Old entries that nothing needs any more, from the oldest on, and no more than one transaction deletes. Two kinds stay,
 * however old, because applications count changes by them: the first entry, and the newest of each flag in each
 * environment.
 *
 * @param time milliseconds since the epoch; entries of that time and later are not old.
 */
export async function oldAuditEntries(db: Db, time: number): Promise<OldEntry[]> {
  return oldEntries(db, time, PRUNED_AT_ONCE);
}

/** Ids grow with time, so the search ends at the first entry that is not old. */
const oldEntries = statement<OldEntry>(`
  select old.id, old.workspace_id as "workspaceId" from audit as old
  where old.id > (select min(id) from audit)
    and old.id < coalesce(
      (select id from audit where time >= $1 order by id limit 1), (select max(id) + 1 from audit))
    and (old.kind <> 'flag' or exists (
      select 1 from audit as newer
      where newer.workspace_id = old.workspace_id and newer.kind = 'flag' and newer.name = old.name
        and coalesce(newer.environment_id, '') = coalesce(old.environment_id, '') and newer.id > old.id))
  order by old.id limit $2`);

export async function deleteAuditEntries(db: Db, ids: readonly number[]): Promise<void> {
  await db.deleteFrom('audit').where('id', 'in', ids).execute();
}
