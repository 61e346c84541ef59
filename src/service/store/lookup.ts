import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';
import type { SqliteDatabase, SqliteStatement } from '../../platform/sqlite.js';
import type { Db } from './tables.js';

/**
 * A single statement that reads the store without a transaction and is prepared once. Parameters are `$1`, `$2`, … in
 * both databases.
 */
export interface Lookup {
  /** The name of the prepared statement in the database, unique among all lookups. */
  readonly name: string;
  readonly text: string;
  /** The lookup reads much and returns little, such as a number, so its result is cached until something changes. */
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
