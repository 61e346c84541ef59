import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';
import type { SqliteDatabase, SqliteStatement } from '../../platform/sqlite.js';
import type { Db } from './tables.js';

/**
 * A statement that is one look at the store by itself: it needs no transaction, and is prepared once. Parameters are
 * `$1`, `$2`, … in both databases.
 */
export interface Lookup {
  /** The name under which a database keeps the prepared statement; no other lookup has it. */
  readonly name: string;
  readonly text: string;
  /** It looks at much and finds little, such as a number: what it finds may be remembered until something changes. */
  readonly isKept?: true;
}

/** Runs a lookup on what was written last. Rows are what its text selects. */
export type PreparedRead = <Row>(lookup: Lookup, values: readonly unknown[]) => Promise<Row[]>;

/**
 * Runs lookups on the one connection that SQLite has. While a writer holds that connection, changes
 * that it has not committed could be seen: then the lookup waits for its turn like any other work.
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

/** Parameters as SQLite numbers them. */
function numbered(text: string): string {
  return text.replaceAll('$', '?');
}

/** Runs lookups on any free connection; PostgreSQL shows what is committed. */
export function postgresLookUp(pool: Pool): PreparedRead {
  return async <Row>({ name, text }: Lookup, values: readonly unknown[]) => {
    const { rows } = await pool.query({ name, text, values: [...values] });
    return rows as Row[];
  };
}
