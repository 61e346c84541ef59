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

/** Adds those that are not there yet. */
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

/** Removes those that are there. */
export async function removeKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
  keys: readonly string[],
): Promise<void> {
  await sql`
    delete from segment_keys
    where activation_id = ${activationId} and key in ${unfolded(dialect, keys)}`.execute(db);
}

/** Those of `keys` that the segment has. */
export async function presentKeys(
  db: Db,
  dialect: Dialect,
  activationId: number,
  keys: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`
    select key from segment_keys
    where activation_id = ${activationId} and key in ${unfolded(dialect, keys)}`.execute(db);
  return new Set(rows.map(({ key }) => key));
}

export async function allKeys(db: Db, activationId: number): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from segment_keys where activation_id = ${activationId} order by key`.execute(db);
  return rows.map(({ key }) => key);
}
