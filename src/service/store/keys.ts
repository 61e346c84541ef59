import { sql } from 'kysely';
import type { Dialect } from './migrations.js';
import type { Db } from './tables.js';

/**
 * Passes ten thousand keys as one parameter, a JSON list that the database unfolds: single parameters would exceed the
 * limit of either database.
 */
function unfolded(dialect: Dialect, keys: readonly string[]) {
  const list = JSON.stringify(keys);
  return dialect === 'sqlite'
    ? sql<string>`(select value from json_each(${list}))`
    : sql<string>`(select value from json_array_elements_text(${list}::json) as value)`;
}

export async function addKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
  keys: readonly string[],
): Promise<void> {
  await sql`
    insert into segment_keys (activation_id, key)
    select cast(${activationId} as bigint), value from ${unfolded(dialect, keys)} as given
    where true on conflict do nothing`.execute(db);
}

/** Removes the keys that the segment has, and ignores the others. */
export async function removeKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
  keys: readonly string[],
): Promise<void> {
  const rows =
    dialect === 'sqlite'
      ? sql`activation_id = ${activationId} and key in ${unfolded(dialect, keys)}`
      : sql`ctid = any(array(${soughtOneByOne(activationId, keys, 'ctid')}))`;
  await sql`delete from segment_keys where ${rows}`.execute(db);
}

export async function presentKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
  keys: readonly string[],
): Promise<Set<string>> {
  const query =
    dialect === 'sqlite'
      ? sql<{ key: string }>`
          select key from segment_keys
          where activation_id = ${activationId} and key in ${unfolded(dialect, keys)}`
      : sql<{ key: string }>`${soughtOneByOne(activationId, keys, 'key')}`;
  const { rows } = await query.execute(db);
  return new Set(rows.map(({ key }) => key));
}

/**
 * PostgreSQL plans with statistics of the table, which are empty after a first upload: it would compare every given key
 * with every stored key, which takes half a minute for ten thousand of each. The `offset` rules out that plan and
 * leaves one search in the index for each key.
 */
function soughtOneByOne(activationId: number, keys: readonly string[], column: 'key' | 'ctid') {
  return sql`
    select found.${sql.ref(column)} from ${unfolded('postgres', keys)} as given
    cross join lateral (
      select ${sql.ref(column)} from segment_keys
      where activation_id = ${activationId} and key = given.value offset 0) as found`;
}

/** All keys of a segment, at most the contract's 100,000, sorted by their bytes. */
export async function allKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
): Promise<readonly string[]> {
  // Reading one row with a list takes an eighth of the time of reading one row for each key.
  const list =
    dialect === 'sqlite'
      ? sql`(select json_group_array(key) from (${sortedKeys(activationId)}) as sorted)`
      : sql`(select json_agg(key order by key)::text from (${sortedKeys(activationId)}) as sorted)`;
  const { rows } = await sql<{ keys: string | null }>`select ${list} as keys`.execute(db);
  return JSON.parse(rows[0]?.keys ?? '[]') as string[];
}

function sortedKeys(activationId: number) {
  return sql`select key from segment_keys where activation_id = ${activationId} order by key`;
}

export async function removeAllKeys(db: Db, activationId: number): Promise<void> {
  await sql`delete from segment_keys where activation_id = ${activationId}`.execute(db);
}
