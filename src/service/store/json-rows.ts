import { sql, type RawBuilder } from 'kysely';
import type { Dialect } from './migrations.js';

/**
 * Rows as one parameter, for use behind `from`: a JSON list that the database unfolds, where `value ->> N` is column N
 * of a row as text. As single parameters, rows would exceed the limit of either database, and each number of rows would
 * need a prepared statement of its own.
 */
export function jsonRows(
  dialect: Dialect,
  rows: readonly (readonly (string | number | null)[])[],
): RawBuilder<unknown> {
  const text = JSON.stringify(rows);
  return dialect === 'sqlite'
    ? sql`json_each(${text}) as given`
    : sql`json_array_elements(${text}::json) as given (value)`;
}
