import { sql } from 'kysely';
import type { Listed, Page } from '../rules/members.js';
import { firstRow, givenRows, statement, statementFor } from './statement.js';
import type { AuditKind, AuditTable, Db } from './tables.js';

/** Member of an entry → its column. */
const COLUMNS = {
  time: 'time',
  transactionId: 'transaction_id',
  workspaceId: 'workspace_id',
  environment: 'environment_name',
  environmentId: 'environment_id',
  kind: 'kind',
  name: 'name',
  action: 'action',
  title: 'title',
  comment: 'comment',
  keyId: 'key_id',
  keyName: 'key_name',
} as const satisfies Readonly<Record<string, keyof AuditTable>>;

type NewEntry = {
  readonly [Name in keyof typeof COLUMNS]: AuditTable[(typeof COLUMNS)[Name]];
} & { readonly difference: readonly unknown[] };

export type AuditEntry = { readonly id: number } & NewEntry;

/** All given conditions have to match. */
export interface AuditFilter {
  readonly workspaceId?: string;
  /** Id or name. */
  readonly environment?: string;
  readonly kind?: string;
  readonly name?: string;
  /** Older than the one with this id. */
  readonly before?: number;
}

const MEMBERS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** Adds entries in their order, in one statement; the store gives each the next id. */
export async function insertAudit(db: Db, entries: readonly NewEntry[]): Promise<void> {
  const rows = entries.map((entry) => [
    ...MEMBERS.map((name) => entry[name]),
    JSON.stringify(entry.difference),
  ]);
  await insertRows(db, JSON.stringify(rows));
}

const INSERTED = [...Object.values(COLUMNS), 'difference_json'];
const GIVEN = INSERTED.map((column, index) =>
  column === 'time' ? `cast(value ->> ${index} as bigint)` : `value ->> ${index}`,
);
const insertRows = statementFor(
  (dialect) => `
    insert into audit (${INSERTED.join(', ')})
    select ${GIVEN.join(', ')} from ${givenRows(dialect, '$1')}`,
);

export async function listAudit(
  db: Db,
  filter: AuditFilter,
  page: Page,
): Promise<Listed<AuditEntry>> {
  let query = db.selectFrom('audit');
  if (filter.workspaceId !== undefined)
    query = query.where('workspace_id', '=', filter.workspaceId);
  const { environment } = filter;
  if (environment !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('environment_id', '=', environment), eb('environment_name', '=', environment)]),
    );
  }
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind as AuditKind);
  if (filter.name !== undefined) query = query.where('name', '=', filter.name);
  if (filter.before !== undefined) query = query.where('id', '<', filter.before);
  const { count } = await query
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const found = await query
    .select(['id', ...MEMBERS.map((name) => sql.ref(COLUMNS[name]).as(name))])
    .select('difference_json')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const rows = (found as (AuditEntry & { difference_json: string })[]).map(
    ({ difference_json, ...entry }) => ({
      ...entry,
      difference: JSON.parse(difference_json) as unknown[],
    }),
  );
  return { rows, totalCount: count };
}

/** Flags whose definition in an environment may have changed behind an entry, each with its newest entry. */
export const flagsChangedAfter = statement<
  { readonly name: string; readonly id: number },
  [workspaceId: string, environmentId: string, id: number]
>(`
  select name, max(id) as id from audit
  where workspace_id = $1 and kind = 'flag' and (environment_id = $2 or environment_id is null) and id > $3
  group by name`);

/** The oldest entry and the id of the newest; undefined while the log is empty. */
export const endsOfAudit = firstRow<
  { readonly id: number; readonly time: number; readonly newest: number },
  []
>(`
  select id, time, (select max(id) from audit) as newest from audit order by id limit 1`);

/** Deletes of so many in one transaction hold other writers up for milliseconds. */
const PRUNED_AT_ONCE = 5_000;

/**
 * Entries of before a time, from the oldest on, and no more than one transaction deletes. Two kinds stay, however old,
 * because applications count changes by them: the first entry, and the newest of each flag in each environment. Ids grow
 * with time, so the search ends at the first entry that is not old.
 */
export const oldAuditEntries = statement<
  { readonly id: number; readonly workspaceId: string | null },
  [time: number]
>(`
  select old.id, old.workspace_id as "workspaceId" from audit as old
  where old.id > (select min(id) from audit)
    and old.id < coalesce(
      (select id from audit where time >= $1 order by id limit 1), (select max(id) + 1 from audit))
    and (old.kind <> 'flag' or exists (
      select 1 from audit as newer
      where newer.workspace_id = old.workspace_id and newer.kind = 'flag' and newer.name = old.name
        and coalesce(newer.environment_id, '') = coalesce(old.environment_id, '') and newer.id > old.id))
  order by old.id limit ${PRUNED_AT_ONCE}`);

export async function deleteAuditEntries(db: Db, ids: readonly number[]): Promise<void> {
  await db.deleteFrom('audit').where('id', 'in', ids).execute();
}
