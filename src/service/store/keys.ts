import { sql } from 'kysely';
import type { Dialect } from './migrations.js';
import type { Db } from './tables.js';

/**
 * Ten thousand keys travel as one parameter, a JSON list that the database itself unfolds: as single parameters they
 * would pass what either database takes in one statement.
 */
function unfolded(dialect: Dialect, keys: readonly string[]) {
  const list = JSON.stringify(keys);
  return dialect === 'sqlite'
    ? sql<string>`(select value from json_each(${list}))`
    : sql<string>`(select value from json_array_elements_text(${list}::json) as value)`;
}

/** Adds the keys that the segment does not have yet. */
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

/** Removes the keys that the segment has; the others are passed over. */
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

/** The keys among those given that the segment has. */
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
 * PostgreSQL plans with what it knows of the table, which after a first upload is nothing: it would hold every key that
 * is given against every key that is there, half a minute for ten thousand of each. The `offset` forbids that plan; what
 * is left is one search in the index for each key.
 */
function soughtOneByOne(activationId: number, keys: readonly string[], column: 'key' | 'ctid') {
  return sql`
    select found.${sql.ref(column)} from ${unfolded('postgres', keys)} as given
    cross join lateral (
      select ${sql.ref(column)} from segment_keys
      where activation_id = ${activationId} and key = given.value offset 0) as found`;
}

/** All keys of a segment, at most the contract's 100,000, in the order of their bytes. */
export async function allKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
): Promise<readonly string[]> {
  // One row with a list is read in an eighth of the time of a row for each key.
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

/** Empties a segment. */
export async function removeAllKeys(db: Db, activationId: number): Promise<void> {
  await sql`delete from segment_keys where activation_id = ${activationId}`.execute(db);
}
