import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, Migrator, sql, SqliteDialect } from 'kysely';
import { FlagkeelError, messageOf } from '../../errors.js';
import {
  isBusy,
  openSqlite,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../platform/sqlite.js';
import { storeHealth } from './failures.js';
import { migrations } from './migrations.js';
import { postgresParts, type StoreParts } from './postgres.js';
import { runIn, statementFor, type Lookup, type LookUp } from './statement.js';
import { dialectOf, type Db, type Tables } from './tables.js';
import { rehearse, runAll, SQLITE_LOCK, transact, writeAlone, writeTogether } from './writers.js';

export type StoreLocation =
  | { readonly kind: 'memory' }
  /** Created if it does not exist. One process at a time. */
  | { readonly kind: 'directory'; readonly path: string }
  /** `postgres://…`; any number of processes. */
  | { readonly kind: 'postgres'; readonly url: string };

export interface Store {
  /** Runs `work` on one consistent state of the store, without changes of others in between. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as the only writer: writers run one after the other, across all processes. If it throws, all its
   * changes are undone; once it has returned, they are durable.
   */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Runs frequent queries: one statement, without a transaction around it. */
  readonly lookUp: LookUp;
  /** Changes with every change of an object, whichever process makes it, before its writer gets an answer. */
  version(): Promise<unknown>;
  /**
   * Rejects within three seconds if the store does not answer, cannot be written, or still fails what it failed last.
   * Otherwise it does not wait for writers.
   */
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
  /** Waits for each statement of PostgreSQL as long as it takes: for copies of whole stores. */
  readonly isPatient?: boolean;
}

/**
 * @throws FlagkeelError (IN_USE) another process has the directory open, and `opening` does not allow that.
 * @throws FlagkeelError (STATE_UNREADABLE) the store cannot be opened, or was written by another version.
 */
export async function openStore(
  location: StoreLocation,
  opening: StoreOpening = {},
): Promise<Store> {
  if (location.kind === 'postgres') return openPostgres(location.url, opening);
  if (location.kind === 'directory') return openDirectory(location.path, opening);
  const database = openSqlite(':memory:');
  database.exec('pragma foreign_keys = on');
  return storeOver(sqliteParts(database), 'newest');
}

export function isToBeMade(location: StoreLocation): boolean {
  return location.kind === 'directory' && !existsSync(databaseFile(location.path));
}

function databaseFile(path: string): string {
  return join(path, 'service.sqlite');
}

async function openDirectory(
  path: string,
  { beside = false, tables = 'newest' }: StoreOpening,
): Promise<Store> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = takeLock(path);
    if (lock === undefined && !beside) {
      throw new FlagkeelError(
        'IN_USE',
        `cannot open the store in "${path}": another process has it open (stop that process, or name another directory)`,
      );
    }
    try {
      // The directory is often inside a checkout and must not be committed.
      if (lock !== undefined) writeFileSync(join(path, '.gitignore'), '*\n');
      const parts = sqliteParts(openDurable(databaseFile(path)));
      const isBeside = lock === undefined && tables !== 'as-they-are';
      return await storeOver(parts, isBeside ? 'must-be-newest' : tables, () => lock?.close());
    } catch (error) {
      lock?.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof FlagkeelError) throw error;
    const message = `cannot open the store in "${path}": ${messageOf(error)}`;
    throw new FlagkeelError('STATE_UNREADABLE', message, { cause: error });
  }
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

/** Locks a separate file. The system releases the lock when the process dies. Undefined if another process has it. */
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

function sqliteParts(database: SqliteDatabase): StoreParts {
  const prepare = preparedOnce(database);
  // Counts the rows that this connection changed, and the commits of all others, also in other processes.
  const version = database.prepare(
    'select total_changes() as own, data_version as others from pragma_data_version',
  );
  const close = (): void => {
    database.close();
  };
  return {
    kysely: new SqliteDialect({ database: { prepare, close } }),
    lookUp:
      (db, isWriting) =>
      async <Row>(lookup: Lookup, values: readonly unknown[]) =>
        // A writer uses the only connection, and this read must not see what is not committed: it waits for its turn.
        isWriting()
          ? runIn<Row>(db, lookup, values)
          : (prepare(lookup.compiled.sql).all(values) as Row[]),
    ping: async () => Promise.resolve(database.exec('select 1')).then(() => undefined),
    version: async () => Promise.resolve(JSON.stringify(version.all([])[0])),
    // Damaged pages would stay in memory after the file was mended.
    afterFailure: (code) => {
      if (/CORRUPT|NOTADB/.test(code)) database.exec('pragma shrink_memory');
    },
  };
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
    const made = RUN_ANEW.includes(text) ? runAnew(database, text) : database.prepare(text);
    // The library would ask the database for this property each time.
    const statement = Object.defineProperty(made, 'reader', { value: made.reader });
    prepared.set(text, statement);
    return statement;
  };
}

/**
 * Two statements that leave no trace if they fail. A full disk ends a transaction by itself, and then its rollback would
 * fail and hide the cause. A statement that waits for a lock stays under way after its error, and no transaction could
 * be committed beside it; so it is prepared anew each time.
 */
function runAnew(database: SqliteDatabase, text: string): SqliteStatement {
  const run: SqliteStatement['run'] = () => {
    if (text !== ROLLBACK || database.inTransaction) database.exec(text);
    return { changes: 0, lastInsertRowid: 0 };
  };
  return Object.assign(Object.create(database.prepare(text)) as SqliteStatement, { run });
}

const ROLLBACK = 'rollback';
const RUN_ANEW: readonly string[] = [ROLLBACK, SQLITE_LOCK];

async function openPostgres(
  url: string,
  { tables = 'newest', isPatient = false }: StoreOpening,
): Promise<Store> {
  const patient = await storeOver(await postgresParts(url, 'patient'), tables);
  if (isPatient) return patient;
  // A step of the migration may take longer than any answer of the service.
  await patient.close();
  return storeOver(await postgresParts(url, 'prompt'), 'as-they-are');
}

async function storeOver(
  { kysely, afterFailure, ...parts }: StoreParts,
  tables: NonNullable<StoreOpening['tables']> | 'must-be-newest',
  closed?: () => void,
): Promise<Store> {
  const db = new Kysely<Tables>({ dialect: kysely });
  try {
    if (tables === 'must-be-newest') await checkUpToDate(db);
    else if (tables !== 'as-they-are') await migrate(db, tables);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  let writers = 0;
  const writeAll = writeTogether(async (next) =>
    writeAlone(db, async (transaction) => runAll(transaction, next)),
  );
  const write: Store['write'] = async (work) => {
    writers += 1;
    try {
      return await writeAll(work);
    } finally {
      writers -= 1;
    }
  };
  const read: Store['read'] = async (work) => {
    const transaction = db.transaction();
    const isolated =
      dialectOf(db) === 'postgres' ? transaction.setIsolationLevel('repeatable read') : transaction;
    return transact(isolated, work);
  };
  const lookUp = parts.lookUp(db, () => writers > 0);
  const health = storeHealth(parts.ping, afterFailure);
  return {
    lookUp: async <Row>(lookup: Lookup, values: readonly unknown[]) =>
      health.noting(async () => lookUp<Row>(lookup, values)),
    ping: async () => health.check(),
    version: async () => health.noting(parts.version),
    read: async (work) => health.noting(async () => read(work)),
    write: async (work) =>
      health.noting(
        async () => write(work),
        async () => write(async (db) => rehearse(db, work)),
      ),
    close: async () => {
      await db.destroy();
      closed?.();
    },
  };
}

async function checkUpToDate(db: Db): Promise<void> {
  const steps = await stepsTaken(db);
  if (steps.join() === Object.keys(migrations(dialectOf(db))).join()) return;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    'cannot open the store beside the service: that service is of another version (use that version, or stop the service)',
  );
}

/** Takes the missing steps. Refuses a store with a step that this version does not know. */
async function migrate(db: Db, until: 'newest' | { readonly upTo: string }): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Promise.resolve(migrations(dialectOf(db))) },
  });
  const { error } = await stepsTaken(db).then(
    async () => (until === 'newest' ? migrator.migrateToLatest() : migrator.migrateTo(until.upTo)),
    (error: unknown) => ({ error }),
  );
  if (error === undefined) return;
  if (error instanceof FlagkeelError) throw error;
  const message = `cannot take the missing steps of the store: ${messageOf(error)}`;
  throw new FlagkeelError('STATE_UNREADABLE', message, { cause: error });
}

/** In their order; none if the store has no tables. @throws FlagkeelError `STATE_UNREADABLE` */
export async function stepsTaken(db: Db): Promise<string[]> {
  const [table] = await tableOfSteps(db);
  if (typeof table?.found !== 'string') return [];
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  const steps = rows.map(({ name }) => name);
  const fault = faultOfSteps(steps);
  if (fault === undefined) return steps;
  const wayOut = 'use that version, or restore the backup from before it';
  throw new FlagkeelError('STATE_UNREADABLE', `cannot read the store: ${fault} (${wayOut})`);
}

/** A clause, if this version cannot read a store with these steps; only a step after all of ours shows a newer one. */
export function faultOfSteps(steps: readonly string[]): string | undefined {
  const known = Object.keys(migrations('sqlite'));
  const unknown = steps.find((step) => !known.includes(step));
  if (unknown === undefined) return undefined;
  const isNewer = known.every((step) => step < unknown);
  return `${isNewer ? 'a newer' : 'another'} version wrote it, with the step ${unknown}`;
}

/** One question, because each start of a service asks it. */
const tableOfSteps = statementFor<{ readonly found: string | null }>((dialect) =>
  dialect === 'sqlite'
    ? "select name as found from sqlite_master where name = 'kysely_migration'"
    : "select to_regclass('kysely_migration')::text as found",
);
