import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Kysely,
  Migrator,
  PostgresDialect,
  SqliteDialect,
  sql,
  type Dialect as KyselyDialect,
} from 'kysely';
import { FlagkeelError, messageOf } from '../../errors.js';
import {
  isBusy,
  openSqlite,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../platform/sqlite.js';
import { postgresLookUp, sqliteLookUp, type PreparedRead } from './lookup.js';
import { migrations, type Dialect } from './migrations.js';
import type { Db, Tables } from './tables.js';
import { runAll, writeAlone, WriteCounter, writeTogether } from './writers.js';

export type StoreLocation =
  | { readonly kind: 'memory' }
  /** Made where there is none. One process at a time. */
  | { readonly kind: 'directory'; readonly path: string }
  /** `postgres://…`; any number of processes. */
  | { readonly kind: 'postgres'; readonly url: string };

export interface Store {
  readonly dialect: Dialect;
  /** Runs `work` on one state of the store: no other's change comes in between. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs `work` alone: writers come one after the other, in all processes. What it throws undoes all it did; once it
   * returned, its changes outlive the process.
   */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Runs what is asked for all the time: one statement, without a transaction around it. */
  readonly lookUp: PreparedRead;
  /**
   * A number that is another one after every write, before the write returns. Null where other
   * processes write too, whose writes it could not count.
   */
  version(): number | null;
  /** Asks the store for nothing but an answer. It does not wait for writers. Rejects where no answer comes. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** How a store is to be opened. */
export interface StoreOpening {
  /** A directory that a service has open is opened beside it; its tables are left as they are. */
  readonly beside?: boolean;
  /**
   * What becomes of the tables. `newest`, the default: every step is taken that is missing. `as-they-are`: none, and
   * there may be none. Otherwise the last step that is taken, of a store that has taken no later one.
   */
  readonly tables?: 'newest' | 'as-they-are' | { readonly upTo: string };
}

/**
 * Opens the store and brings its tables up to date, unless `opening` says otherwise.
 *
 * @throws FlagkeelError (IN_USE) another process has the directory open, and the store is not to be opened beside it.
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

/** Whether the store is one of those that `openStore` would have to make. */
export function isToBeMade(location: StoreLocation): boolean {
  return location.kind === 'directory' && !existsSync(databaseFile(location.path));
}

function databaseFile(path: string): string {
  return join(path, 'service.sqlite');
}

/** A store that ends with the process. */
async function openMemory(): Promise<Store> {
  const database = openSqlite(':memory:');
  database.exec('pragma foreign_keys = on');
  return storeOver(sqliteParts(database));
}

/** A store of one SQLite file in a directory that one service holds at a time. */
async function openDirectory(path: string, opening: StoreOpening): Promise<Store> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = takeLock(path);
    if (lock === undefined && opening.beside !== true) throw inUse(path);
    try {
      // It often stands inside a checkout, and is no part of it.
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

/** Opens the SQLite file with durable commits and with references between tables checked. */
function openDurable(file: string): SqliteDatabase {
  const database = openSqlite(file);
  try {
    database.exec('pragma journal_mode = wal');
    // Every commit reaches the disk before it is answered: what was acknowledged survives a power cut.
    database.exec('pragma synchronous = full');
    database.exec('pragma foreign_keys = on');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * An exclusive lock on a file of its own: the system takes it back when the process dies, however it dies.
 *
 * @returns undefined: another process holds it.
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

/** What a store is made of. */
interface Parts {
  readonly dialect: Dialect;
  readonly kysely: KyselyDialect;
  readonly lookUp: (db: Db, isWriting: () => boolean) => PreparedRead;
  readonly ping: () => Promise<void>;
  /** A number that is another one after other connections have written; absent where nobody can tell. */
  readonly othersVersion?: () => unknown;
}

/** What a store over SQLite is made of. */
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
    othersVersion: dataVersionOf(database),
  };
}

/** What SQLite counts for each connection: commits of others, those of other processes too. Asking takes microseconds. */
function dataVersionOf(database: SqliteDatabase): () => unknown {
  const statement = database.prepare('pragma data_version');
  return () => (statement.all([])[0] as { readonly data_version: unknown }).data_version;
}

/**
 * The statements of this service are far fewer, but those with lists of parameters are one for each
 * length.
 */
const MAX_PREPARED_STATEMENTS = 500;

/** Statements are few and asked for all the time; preparing one costs more than running it. */
function preparedOnce(database: SqliteDatabase): (text: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.clear();
    const made = database.prepare(text);
    // The library asks the database for it each time.
    const statement = Object.defineProperty(made, 'reader', { value: made.reader });
    prepared.set(text, statement);
    return statement;
  };
}

/** Work in a transaction takes milliseconds. A process that froze gives up its turn as writer after this. */
const MAX_IDLE_IN_TRANSACTION_MS = 10_000;

/** Whoever asks whether the service is well gives up after a few seconds. */
const PING_WITHIN_MS = 3_000;

/** A store in PostgreSQL that any number of processes share. */
async function openPostgres(url: string, { tables }: StoreOpening): Promise<Store> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
    types: {
      // 64-bit integers are times and counts here, all far below 2^53; `pg` gives them as text.
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(oid, format) as unknown),
    },
  });
  // A connection that breaks is replaced at the next use, and who uses it now learns of it by the query that fails.
  // Unheard, either would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const parts: Parts = {
    dialect: 'postgres',
    kysely: new PostgresDialect({ pool }),
    lookUp: () => postgresLookUp(pool),
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

/** How a store was opened. */
interface Opened {
  readonly tables?: StoreOpening['tables'];
  /** Its tables are those of whoever opened it first. */
  readonly isBeside?: boolean;
  /** Called after the database was closed. */
  readonly closed?: () => void;
}

/** Brings the tables up to date and puts transactions around the work. */
async function storeOver(parts: Parts, opened: Opened = {}): Promise<Store> {
  const { dialect, kysely, lookUp, ping } = parts;
  const db = new Kysely<Tables>({ dialect: kysely });
  try {
    await prepareTables(db, dialect, opened);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const writes = new WriteCounter(parts.othersVersion);
  let writers = 0;
  const write = writeTogether(async (next) =>
    writeAlone(db, dialect, async (transaction) => runAll(transaction, next)),
  );
  return {
    dialect,
    lookUp: lookUp(db, () => writers > 0),
    ping,
    version: () => (dialect === 'postgres' ? null : writes.count()),
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
        writes.add();
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

/** @throws FlagkeelError (STATE_UNREADABLE) the service that has the store open is of another version. */
async function checkUpToDate(db: Db, dialect: Dialect): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  if (rows.map(({ name }) => name).join() === Object.keys(migrations(dialect)).join()) return;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    'cannot open the store beside the service: that service is of another version (use that version, or stop the service)',
  );
}

/**
 * Runs the steps that the store has not taken yet, the last of them `upTo`. A store with a step that this version does not
 * know is refused.
 */
async function migrate(db: Db, dialect: Dialect, upTo: string | undefined): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Promise.resolve(migrations(dialect)) },
  });
  const { error } =
    upTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(upTo);
  if (error === undefined) return;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    `cannot bring the store up to date: ${messageOf(error)}`,
    { cause: error },
  );
}
