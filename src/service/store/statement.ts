import { CompiledQuery, sql, type RawBuilder } from 'kysely';
import type { Pool } from 'pg';
import type { SqliteDatabase, SqliteStatement } from '../../platform/sqlite.js';
import type { Dialect } from './migrations.js';
import type { Db } from './tables.js';

type Value = string | number | null;
type Statement<Row, Values extends readonly Value[]> = (
  db: Db,
  ...values: Values
) => Promise<Row[]>;

/**
 * A statement whose text is built once, because building it takes longer than running it. Both databases take `$1`, `$2`,
 * … for its values; each has to occur first in this order.
 *
 * @returns a function that runs the statement in a transaction, and gives the rows that it selects.
 */
export function statement<Row = never, Values extends readonly Value[] = readonly Value[]>(
  text: string,
): Statement<Row, Values> {
  const compiled = CompiledQuery.raw(text);
  return async (db, ...values) => {
    const { rows } = await db.executeQuery({ ...compiled, parameters: values });
    return rows as Row[];
  };
}

/**
 * A single statement that reads the store without a transaction and is prepared once. Parameters are `$1`, `$2`, … in
 * both databases.
 */
export interface Lookup {
  /** The name of the prepared statement in the database, unique among all lookups. */
  readonly name: string;
  readonly text: string;
  /** The lookup reads much and returns little, such as a number, so its result is kept until something changes. */
  readonly isKept?: true;
}

/** Runs a lookup on the newest committed state. Rows have the columns that its text selects. */
export type PreparedRead = <Row>(lookup: Lookup, values: readonly unknown[]) => Promise<Row[]>;

/**
 * Runs lookups on the only connection of SQLite. While a writer uses that connection, a lookup could see changes that
 * are not committed; then it waits for its turn like any other work.
 */
export function sqliteLookUp(
  database: SqliteDatabase,
  db: Db,
  isWriting: () => boolean,
): PreparedRead {
  const prepared = new Map<string, SqliteStatement>();
  return async <Row>({ name, text }: Lookup, values: readonly unknown[]) => {
    if (isWriting()) {
      const { rows } = await db.executeQuery(CompiledQuery.raw(numbered(text), [...values]));
      return rows as Row[];
    }
    const statement = prepared.get(name) ?? database.prepare(numbered(text));
    prepared.set(name, statement);
    return statement.all(values) as Row[];
  };
}

/** Parameters in the notation of SQLite. */
function numbered(text: string): string {
  return text.replaceAll('$', '?');
}

/** Runs lookups on any free connection; PostgreSQL shows only committed changes. */
export function postgresLookUp(pool: Pool): PreparedRead {
  return async <Row>({ name, text }: Lookup, values: readonly unknown[]) => {
    const { rows } = await pool.query({ name, text, values: [...values] });
    return rows as Row[];
  };
}

/**
 * Rows as one parameter, for use behind `from`: a JSON list that the database unfolds, where `value ->> N` is column N
 * of a row as text. As single parameters, rows would exceed the limit of either database, and each number of rows would
 * need a prepared statement of its own.
 */
export function jsonRows(
  dialect: Dialect,
  rows: readonly (readonly Value[])[],
): RawBuilder<unknown> {
  const text = JSON.stringify(rows);
  return dialect === 'sqlite'
    ? sql`json_each(${text}) as given`
    : sql`json_array_elements(${text}::json) as given (value)`;
}
