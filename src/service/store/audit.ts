import type { Page } from '../rules/paging.js';
import type { Db } from './tables.js';

/** One change, as the audit log keeps it. */
export interface AuditEntry {
  /** Grows with every change. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly transactionId: string;
  readonly workspaceId: string | null;
  /** Name, as it was; null: the change was made at the level of the workspace. */
  readonly environment: string | null;
  readonly environmentId: string | null;
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  readonly title: string | null;
  readonly comment: string | null;
  /** Name of the Admin API key. */
  readonly keyName: string | null;
  readonly difference: readonly unknown[];
}

export type AuditKind =
  'flag' | 'segment' | 'identity' | 'workspace' | 'environment' | 'traffic-type' | 'admin-key';

export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'kill'
  | 'restore'
  | 'activate'
  | 'deactivate'
  | 'add-keys'
  | 'remove-keys'
  | 'replace-keys';

export interface AuditFilter {
  readonly workspaceId?: string;
  /** Id or name. */
  readonly environment?: string;
  readonly kind?: string;
  readonly name?: string;
}

export async function insertAudit(db: Db, entry: Omit<AuditEntry, 'id'>): Promise<void> {
  await db
    .insertInto('audit')
    .values({
      time: entry.time,
      transaction_id: entry.transactionId,
      workspace_id: entry.workspaceId,
      environment_id: entry.environmentId,
      environment_name: entry.environment,
      kind: entry.kind,
      name: entry.name,
      action: entry.action,
      title: entry.title,
      comment: entry.comment,
      key_name: entry.keyName,
      difference_json: JSON.stringify(entry.difference),
    })
    .execute();
}

/** The newest first. */
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
    keyName: row.key_name,
    difference: JSON.parse(row.difference_json) as unknown[],
  }));
  return { entries, totalCount: count };
}
