import Libsql from 'libsql';
import { FlagkeelError, messageOf } from '../errors.js';

/** The part of SQLite in use: synchronous, one connection, statements prepared by the caller. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  /** Whether it returns rows: then use `all`, otherwise `run`. */
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

/**
 * Creates the file if needed. No busy timeout: a lock of another connection is an error at once.
 *
 * @throws FlagkeelError `STATE_UNREADABLE`
 */
export function openSqlite(path: string): SqliteDatabase {
  try {
    return new Libsql(path, { timeout: 0 });
  } catch (cause) {
    const message = `cannot open the database "${path}": ${messageOf(cause)}`;
    throw new FlagkeelError('STATE_UNREADABLE', message, { cause });
  }
}

export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
