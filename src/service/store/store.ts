import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Kysely,
  Migrator,
  PostgresDialect,
  SqliteDialect,
  type Dialect as KyselyDialect,
} from 'kysely';
import { FlagkeelError, messageOf } from '../../errors.js';
import {
  isBusy,
  openSqlite,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../platform/sqlite.js';
import { migrations, type Dialect } from './migrations.js';
import { stepsTaken } from './steps.js';
import { postgresLookUp, sqliteLookUp, type PreparedRead } from './statement.js';
import type { Db, Tables } from './tables.js';
import { runAll, writeAlone, writeTogether } from './writers.js';

export type StoreLocation =
  | { readonly kind: 'memory' }
  /** Created if it does not exist. One process at a time. */
  | { readonly kind: 'directory'; readonly path: string }
  /** `postgres://…`; any number of processes. */
  | { readonly kind: 'postgres'; readonly url: string };

export interface Store {
  readonly dialect: Dialect;
  /** Runs `work` on one consistent state of the store, without changes of others in between. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as the only writer: writers run one after the other, across all processes. If it throws, all its
   * changes are undone; once it has returned, they are durable.
   */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Runs frequent queries: one statement, without a transaction around it. */
  readonly lookUp: PreparedRead;
  /** Changes with every change of an object, whichever process makes it, before its writer gets an answer. */
  version(): Promise<unknown>;
  /** Checks that the store answers, without waiting for writers. Rejects if it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOpening {
  /** Opens a directory even if a service has it open, and leaves its tables as they are. */
  readonly beside?: boolean;
  /**
   * The migration of the tables. Default: `newest`, takes all missing steps. `as-they-are` takes none, and the store
   * may have no tables. Otherwise the last step to take; the store must not have taken a later one.
   */
  readonly tables?: 'newest' | 'as-they-are' | { readonly upTo: string };
}

/**
 * Opens the store and brings its tables up to date, unless `opening` says otherwise.
 *
 * @throws FlagkeelError (IN_USE) another process has the directory open, and `opening` does not allow that.
 * @throws FlagkeelError (STATE_UNREADABLE) the store cannot be opened, or was written by another version.
 */
export async function openStore(
  location: StoreLocation,
  opening: StoreOpening = {},
): Promise<Store> {
  if (location.kind === 'postgres') return openPostgres(location.url, opening);
  if (location.kind === 'memory') return openMemory();
  return openDirectory(location.path, opening);
}

/** Whether `openStore` would have to create the store. */
export function isToBeMade(location: StoreLocation): boolean {
  return location.kind === 'directory' && !existsSync(databaseFile(location.path));
}

function databaseFile(path: string): string {
  return join(path, 'service.sqlite');
}

async function openMemory(): Promise<Store> {
  const database = openSqlite(':memory:');
  database.exec('pragma foreign_keys = on');
  return storeOver(sqliteParts(database));
}

async function openDirectory(path: string, opening: StoreOpening): Promise<Store> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = takeLock(path);
    if (lock === undefined && opening.beside !== true) throw inUse(path);
    try {
      // The directory is often inside a checkout and must not be committed.
      if (lock !== undefined) writeFileSync(join(path, '.gitignore'), '*\n');
      const parts = sqliteParts(openDurable(databaseFile(path)));
      return await storeOver(parts, {
        tables: opening.tables,
        isBeside: lock === undefined,
        closed: () => lock?.close(),
      });
    } catch (error) {
      lock?.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof FlagkeelError) throw error;
    throw new FlagkeelError(
      'STATE_UNREADABLE',
      `cannot open the store in "${path}": ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function inUse(path: string): FlagkeelError {
  return new FlagkeelError(
    'IN_USE',
    `cannot open the store in "${path}": another process has it open (stop that process, or name another directory)`,
  );
}

function openDurable(file: string): SqliteDatabase {
  const database = openSqlite(file);
  try {
    database.exec('pragma journal_mode = wal');
    // Every commit reaches the disk before it is answered, so that it survives a power cut.
    database.exec('pragma synchronous = full');
    database.exec('pragma foreign_keys = on');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * An exclusive lock on a separate file. The system releases it when the process dies, however it dies.
 *
 * @returns undefined if another process holds it.
 */
function takeLock(path: string): SqliteDatabase | undefined {
  const lock = openSqlite(join(path, 'lock'));
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    return undefined;
  }
}

interface Parts {
  readonly dialect: Dialect;
  readonly kysely: KyselyDialect;
  readonly lookUp: (db: Db, isWriting: () => boolean) => PreparedRead;
  readonly ping: () => Promise<void>;
  readonly version: () => Promise<unknown>;
}

function sqliteParts(database: SqliteDatabase): Parts {
  const kysely = new SqliteDialect({
    database: {
      prepare: preparedOnce(database),
      close: () => {
        database.close();
      },
    },
  });
  return {
    dialect: 'sqlite',
    kysely,
    lookUp: (db, isWriting) => sqliteLookUp(database, db, isWriting),
    ping: async () => Promise.resolve(database.exec('select 1')).then(() => undefined),
    version: versionOf(database),
  };
}

/**
 * SQLite counts the rows that this connection changed, and for each connection the commits of all others, also in other
 * processes. Asking takes microseconds.
 */
function versionOf(database: SqliteDatabase): () => Promise<unknown> {
  const statement = database.prepare(
    'select total_changes() as own, data_version as others from pragma_data_version',
  );
  return async () => Promise.resolve(JSON.stringify(statement.all([])[0]));
}

/** The service has far fewer statements, but each length of a list of parameters needs one of its own. */
const MAX_PREPARED_STATEMENTS = 500;

/** Prepares each statement once: they are few and frequent, and preparing one costs more than running it. */
function preparedOnce(database: SqliteDatabase): (text: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.clear();
    const made = database.prepare(text);
    // The library would ask the database for this property each time.
    const statement = Object.defineProperty(made, 'reader', { value: made.reader });
    prepared.set(text, statement);
    return statement;
  };
}

/**
 * Transactions take milliseconds. After this time PostgreSQL takes the turn as writer away from a process that froze.
 */
const MAX_IDLE_IN_TRANSACTION_MS = 10_000;

/** Health checks usually give up after a few seconds. */
const PING_WITHIN_MS = 3_000;

const LAST_CHANGE = { name: 'last-change', text: 'select max(id) as last from audit' };

async function openPostgres(url: string, { tables }: StoreOpening): Promise<Store> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
    types: {
      // 64-bit integers are times and counts here, all far below 2^53, but `pg` gives them as text.
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(oid, format) as unknown),
    },
  });
  // The pool replaces a broken connection at the next use; its current user gets the error from the failing query.
  // Without listeners, either event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const parts: Parts = {
    dialect: 'postgres',
    kysely: new PostgresDialect({ pool }),
    lookUp: () => postgresLookUp(pool),
    // Every change of an object is in the audit log, whose ids grow in the order in which writers commit.
    version: async () => {
      const rows = await postgresLookUp(pool)<{ last: number | null }>(LAST_CHANGE, []);
      return rows[0]?.last ?? 0;
    },
    ping: async () => {
      const answered = pool.query('select 1');
      const late = new AbortController();
      const tooLate = wait(PING_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error(`PostgreSQL did not answer within ${PING_WITHIN_MS} ms`);
      });
      try {
        await Promise.race([answered, tooLate]);
      } finally {
        late.abort();
      }
    },
  };
  return storeOver(parts, { tables });
}

interface Opened {
  readonly tables?: StoreOpening['tables'];
  /** Another process opened the store first, so its tables are left as they are. */
  readonly isBeside?: boolean;
  /** Called after the database was closed. */
  readonly closed?: () => void;
}

async function storeOver(parts: Parts, opened: Opened = {}): Promise<Store> {
  const { dialect, kysely, lookUp, ping, version } = parts;
  const db = new Kysely<Tables>({ dialect: kysely });
  try {
    await prepareTables(db, dialect, opened);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  let writers = 0;
  const write = writeTogether(async (next) =>
    writeAlone(db, dialect, async (transaction) => runAll(transaction, next)),
  );
  return {
    dialect,
    lookUp: lookUp(db, () => writers > 0),
    ping,
    version,
    read: async (work) => {
      const transaction = db.transaction();
      return (
        dialect === 'postgres' ? transaction.setIsolationLevel('repeatable read') : transaction
      ).execute(work);
    },
    write: async (work) => {
      writers += 1;
      try {
        return await write(work);
      } finally {
        writers -= 1;
      }
    },
    close: async () => {
      await db.destroy();
      opened.closed?.();
    },
  };
}

async function prepareTables(
  db: Db,
  dialect: Dialect,
  { tables = 'newest', isBeside = false }: Opened,
): Promise<void> {
  if (tables === 'as-they-are') return;
  if (isBeside) await checkUpToDate(db, dialect);
  else await migrate(db, dialect, tables === 'newest' ? undefined : tables.upTo);
}

/** @throws FlagkeelError (STATE_UNREADABLE) the service with the open store is of another version. */
async function checkUpToDate(db: Db, dialect: Dialect): Promise<void> {
  const steps = await stepsTaken(db, dialect);
  if (steps.join() === Object.keys(migrations(dialect)).join()) return;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    'cannot open the store beside the service: that service is of another version (use that version, or stop the service)',
  );
}

/** Takes the missing steps, up to `upTo`. Refuses a store with a step that this version does not know. */
async function migrate(db: Db, dialect: Dialect, upTo: string | undefined): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Promise.resolve(migrations(dialect)) },
  });
  const { error } = await stepsTaken(db, dialect).then(
    async () => (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo)),
    (error: unknown) => ({ error }),
  );
  if (error === undefined) return;
  if (error instanceof FlagkeelError) throw error;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    `cannot take the missing steps of the store: ${messageOf(error)}`,
    { cause: error },
  );
}
