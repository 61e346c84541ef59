import { sql, type RawBuilder } from 'kysely';
import type { Dialect } from './migrations.js';

/**
 * Rows as one parameter, a JSON list that the database unfolds itself, to stand behind `from`; `value ->> N` is column
 * N of a row as text. As single parameters, rows would pass what either database takes in one statement, and
 * each number of rows would be a statement of its own.
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
