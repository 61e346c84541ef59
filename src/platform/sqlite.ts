import Libsql from 'libsql';
import { FlagkeelError, messageOf } from '../errors.js';

/** What the rooms use of SQLite: synchronous, one connection, statements prepared by the caller. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  /** Whether it gives rows: then `all`, otherwise `run`. */
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

/**
 * Opens a SQLite file, made where there is none; `:memory:` lives and dies with the connection. Pragmas are the
 * caller's. Nothing is waited for: a lock that another holds fails at once, see `isBusy`.
 *
 * @throws FlagkeelError (STATE_UNREADABLE) the file cannot be opened.
 */
export function openSqlite(path: string): SqliteDatabase {
  try {
    const database = new Libsql(path, { timeout: 0 });
    return database;
  } catch (error) {
    throw new FlagkeelError(
      'STATE_UNREADABLE',
      `cannot open the database "${path}": ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Whether an error says that another connection or process holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
