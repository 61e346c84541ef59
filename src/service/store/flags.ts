import { sql } from 'kysely';
import type { WireFlag } from '../../admin-api/wire.js';
import type { Listed, Page } from '../rules/members.js';
import { newSeeds } from './definitions.js';
import { firstRow, insert, namesMissing, statement, statements } from './statement.js';
import type { Db, DefinitionRow, DefinitionUseRow, FlagRow } from './tables.js';

export interface StoredFlag extends FlagRow {
  readonly traffic_type_name: string;
  readonly rollout_status_name: string;
}

/** All given conditions have to match. */
interface FlagFilter {
  /** A part of the name, in upper or lower case. */
  readonly nameContains?: string | undefined;
  readonly rolloutStatusId?: string | undefined;
  /** Flags that have all of these. */
  readonly tags: readonly string[];
}

function selectFlags(db: Db, workspaceId: string) {
  return db
    .selectFrom('flags')
    .innerJoin('traffic_types', 'traffic_types.id', 'flags.traffic_type_id')
    .innerJoin('rollout_statuses', 'rollout_statuses.id', 'flags.rollout_status_id')
    .where('flags.workspace_id', '=', workspaceId);
}

const COLUMNS = [
  'traffic_types.name as traffic_type_name',
  'rollout_statuses.name as rollout_status_name',
] as const;

export async function listFlags(
  db: Db,
  workspaceId: string,
  filter: FlagFilter,
  page: Page,
): Promise<Listed<StoredFlag>> {
  let query = selectFlags(db, workspaceId);
  if (filter.rolloutStatusId !== undefined) {
    query = query.where('flags.rollout_status_id', '=', filter.rolloutStatusId);
  }
  if (filter.nameContains !== undefined) {
    const wanted = `%${filter.nameContains.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
    query = query.where(sql<boolean>`flags.sort_name like ${wanted} escape '\\'`);
  }
  for (const tag of filter.tags) {
    // Tags are stored as JSON text, in which each whole tag is between quotation marks. SQLite's `like` ignores case.
    query = query.where(sql<boolean>`replace(tags_json, ${JSON.stringify(tag)}, '') <> tags_json`);
  }
  const { count } = await query
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectAll('flags')
    .select(COLUMNS)
    .orderBy('flags.sort_name')
    .orderBy('flags.name')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, totalCount: count };
}

/** Looks for the name before the id, in case the name of one flag is the id of another. */
export async function findFlag(
  db: Db,
  workspaceId: string,
  nameOrId: string,
): Promise<StoredFlag | undefined> {
  const query = selectFlags(db, workspaceId).selectAll('flags').select(COLUMNS);
  return (
    (await query.where('flags.name', '=', nameOrId).executeTakeFirst()) ??
    (await query.where('flags.id', '=', nameOrId).executeTakeFirst())
  );
}

/** The names that no flag of the workspace has. */
export const missingFlags = namesMissing(
  (names) => `select name from flags where workspace_id = $1 and name in ${names}`,
);

export async function updateFlag(db: Db, flagId: string, changed: Partial<FlagRow>): Promise<void> {
  await db.updateTable('flags').set(changed).where('id', '=', flagId).execute();
}

export const deleteFlag = statements<[id: string]>(
  'delete from definition_uses where flag_id = $1',
  'delete from definitions where flag_id = $1',
  'delete from flags where id = $1',
);

/** Rows of an archived flag. They are kept as JSON, so that no list, rule or count can see it by mistake. */
export interface ArchivedFlag {
  readonly flag: FlagRow;
  readonly definitions: readonly DefinitionRow[];
  readonly uses: readonly DefinitionUseRow[];
}

export async function archiveFlag(db: Db, stored: StoredFlag, now: number): Promise<void> {
  const { traffic_type_name: _type, rollout_status_name: _status, ...flag } = stored;
  const { id, workspace_id, name } = flag;
  const rows: ArchivedFlag = {
    flag,
    definitions: await definitionsOf(db, id),
    uses: await usesOf(db, id),
  };
  const kept = { id, workspace_id, name, archived_time: now, rows_json: JSON.stringify(rows) };
  await insert(db, 'archived_flags', [kept]);
  await deleteFlag(db, id);
}

const definitionsOf = statement<DefinitionRow, [flagId: string]>(
  'select * from definitions where flag_id = $1',
);
const usesOf = statement<DefinitionUseRow, [flagId: string]>(
  'select * from definition_uses where flag_id = $1',
);

/** A flag of this name comes before one with this id. */
export async function findArchived(
  db: Db,
  workspaceId: string,
  nameOrId: string,
): Promise<ArchivedFlag | undefined> {
  const row = await archivedCalled(db, workspaceId, nameOrId);
  return row && (JSON.parse(row.rows_json) as ArchivedFlag);
}

const archivedCalled = firstRow<{ rows_json: string }, [workspaceId: string, nameOrId: string]>(`
  select rows_json from archived_flags where workspace_id = $1 and (name = $2 or id = $2)
  order by case when name = $2 then 0 else 1 end`);

/** Restores all rows of a flag. The environments, traffic type and rollout status that they refer to must exist. */
export async function unarchiveFlag(
  db: Db,
  { flag, definitions, uses }: ArchivedFlag,
): Promise<void> {
  await db.deleteFrom('archived_flags').where('id', '=', flag.id).execute();
  await insert(db, 'flags', [flag]);
  // A flag that an earlier version archived has no seeds.
  const seeded = definitions.map((each) => ({ ...newSeeds(), ...each }));
  await insert(db, 'definitions', seeded);
  await insert(db, 'definition_uses', uses);
}

/** The contract has null in place of an empty list of tags. Owners come from public documentation. */
export function wireFlag(flag: StoredFlag): WireFlag & { owners?: unknown[] } {
  const tags = JSON.parse(flag.tags_json) as string[];
  const owners = JSON.parse(flag.owners_json) as unknown[];
  return {
    id: flag.id,
    name: flag.name,
    description: flag.description,
    trafficType: { id: flag.traffic_type_id, name: flag.traffic_type_name },
    creationTime: flag.creation_time,
    rolloutStatus: { id: flag.rollout_status_id, name: flag.rollout_status_name },
    rolloutStatusTimestamp: flag.rollout_status_timestamp,
    tags: tags.length === 0 ? null : tags.map((name) => ({ name })),
    ...(owners.length === 0 ? {} : { owners }),
  };
}
