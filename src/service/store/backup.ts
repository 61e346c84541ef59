import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { FlagkeelError, messageOf } from '../../errors.js';
import { sql } from 'kysely';
import { packageVersion } from '../../platform/package-files.js';
import { partsOf } from '../parts.js';
import {
  faultOfSteps,
  isToBeMade,
  openStore,
  stepsTaken,
  type Store,
  type StoreLocation,
  type StoreOpening,
} from './store.js';
import { dialectOf, PRIMARY_KEYS, type Db } from './tables.js';

/**
 * A backup is text with one JSON value in each line: first the head, then rows of each table, parents before their
 * children, and at the end counts and a checksum. It can be restored into the other kind of database.
 */
interface Head {
  readonly format: typeof FORMAT;
  readonly flagkeel: string;
  readonly steps: readonly string[];
  /** ISO 8601, in UTC. */
  readonly takenAt: string;
}

type Row = readonly (string | number | null)[];

interface Rows {
  readonly table: TableName;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

interface End {
  readonly rows: Readonly<Record<string, number>>;
  /** Covers all lines before this one, with their line feeds; in lower-case hex. */
  readonly sha256: string;
}

export interface BackupSummary extends Pick<Head, 'takenAt'>, Pick<End, 'rows'> {
  /** Keys of all segments, which have no rows of their own. */
  readonly keys: number;
}

type TableName = keyof typeof PRIMARY_KEYS;

const FORMAT = 'flagkeel-backup/1';

/** A line ends once it is longer than this, so that reading and writing need little memory. */
const LINE_LENGTH = 1024 * 1024;

/** For copies: beside a running service, and of a store that another version may have made. */
const AS_IT_IS: StoreOpening = { beside: true, tables: 'as-they-are', isPatient: true };

/**
 * Copies a store into a file, as it was at one moment: each write is in the copy completely or not at all. The file
 * appears once it is complete. Only its owner may read it, because it holds everything but the Admin API keys themselves.
 *
 * @throws FlagkeelError (USAGE) the store does not exist, or the file does already; (STATE_UNREADABLE) the store cannot
 * be read; (OUTPUT) the file cannot be written.
 */
export async function backUp(
  location: StoreLocation,
  file: string,
  now: number,
): Promise<BackupSummary> {
  if (location.kind === 'memory' || isToBeMade(location)) throw noStore();
  if (existsSync(file)) {
    throw new FlagkeelError('USAGE', `cannot write "${file}": it is there already`);
  }
  return within(await openStore(location, AS_IT_IS), async (store) =>
    intoFile(file, async (handle) => copyInto(handle, store, now)),
  );
}

async function within<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function intoFile<T>(file: string, write: (handle: FileHandle) => Promise<T>): Promise<T> {
  const partial = `${file}.partial`;
  try {
    // A link, or the rest of a backup that was killed, goes away itself: nothing is written through it.
    await rm(partial, { force: true });
    const handle = await open(partial, 'wx', 0o600);
    try {
      const result = await write(handle);
      await handle.sync();
      await rename(partial, file);
      return result;
    } finally {
      await handle.close();
    }
  } catch (cause) {
    await rm(partial, { force: true });
    if (cause instanceof FlagkeelError) throw cause;
    throw new FlagkeelError('OUTPUT', `cannot write "${file}": ${messageOf(cause)}`, { cause });
  }
}

async function copyInto(handle: FileHandle, store: Store, now: number): Promise<BackupSummary> {
  const digest = createHash('sha256');
  const write = async (value: Head | Rows | End): Promise<void> => {
    const line = `${JSON.stringify(value)}\n`;
    digest.update(line);
    await handle.appendFile(line);
  };
  const takenAt = new Date(now).toISOString();
  return store.read(async (db) => {
    const steps = await stepsTaken(db);
    if (steps.length === 0) throw noStore();
    await write({ format: FORMAT, flagkeel: packageVersion(), steps, takenAt });
    const rows: Record<string, number> = {};
    let keys = 0;
    for (const table of await tablesOf(db)) {
      rows[table] = 0;
      for await (const part of linesOf(db, table)) {
        rows[table] += part.rows.length;
        keys += keysCounted(part);
        await write(part);
      }
    }
    await write({ rows, sha256: digest.copy().digest('hex') });
    return { takenAt, rows, keys };
  });
}

function keysCounted({ table, columns, rows }: Rows): number {
  if (table !== 'activations') return 0;
  const at = columns.indexOf('key_count');
  return rows.reduce((sum, row) => sum + Number(row[at]), 0);
}

function noStore(): FlagkeelError {
  return new FlagkeelError('USAGE', 'cannot back up the store: there is none');
}

/** The tables that a store has, before those that refer to them; one of an earlier version may lack some. */
async function tablesOf(db: Db): Promise<TableName[]> {
  const tables = await db.introspection.getTables();
  const names = new Set(tables.map(({ name }) => name));
  return (Object.keys(PRIMARY_KEYS) as TableName[]).filter((name) => names.has(name));
}

/** Rows of one page: a row may be large. */
const ROWS_AT_ONCE = 100;

/** The rows of a table, sorted by primary key, read page by page and given as lines of bounded length. */
async function* linesOf(db: Db, table: TableName): AsyncGenerator<Rows> {
  const names: readonly string[] = PRIMARY_KEYS[table];
  const key = sql.join(names.map((name) => sql.ref(name)));
  let where = sql``;
  let last: Record<string, Row[number]> | undefined;
  do {
    const page = await sql<Record<string, Row[number]>>`
      select * from ${sql.table(table)} ${where} order by ${key} limit ${ROWS_AT_ONCE}`.execute(db);
    const columns = Object.keys(page.rows[0] ?? {});
    const rows = page.rows.map((record) => columns.map((column) => record[column] ?? null));
    for (const part of inLines(rows)) yield { table, columns, rows: part };
    last = page.rows[ROWS_AT_ONCE - 1];
    where = sql`where (${key}) > (${sql.join(names.map((name) => last?.[name] ?? null))})`;
  } while (last !== undefined);
}

function* inLines(rows: readonly Row[]): Generator<readonly Row[]> {
  let start = 0;
  let length = 0;
  for (const [index, row] of rows.entries()) {
    length += JSON.stringify(row).length;
    if (length < LINE_LENGTH && index < rows.length - 1) continue;
    yield rows.slice(start, index + 1);
    [start, length] = [index + 1, 0];
  }
}

/**
 * Fills an empty store from a backup of this version or an earlier one, and brings its tables up to date. Restores
 * everything or nothing. Reads the whole file before touching the store.
 *
 * @throws FlagkeelError (USAGE) the store is not empty, or is in memory; (IN_USE) a service has the store open;
 * (STATE_UNREADABLE) the file is no backup, incomplete, damaged, or of a newer version.
 */
export async function restore(location: StoreLocation, file: string): Promise<BackupSummary> {
  if (location.kind === 'memory') {
    throw new FlagkeelError('USAGE', 'cannot restore into memory (name a directory or database)');
  }
  const { head, end, keys } = await checkWhole(file);
  await checkFree(location, head);
  const upTo = head.steps.at(-1) ?? '';
  await within(await openStore(location, { tables: { upTo }, isPatient: true }), async (store) =>
    store.write(async (db) => {
      if (!(await isEmptyStore(db))) throw notEmpty();
      for await (const { value } of valuesOf(file)) {
        if ('table' in value) await fillTable(db, value);
      }
      await goOnCounting(db);
    }),
  );
  // Opening the store takes the steps that are newer than the backup, like the start of a service does.
  await within(await openStore(location), async (store) => store.ping());
  return { takenAt: head.takenAt, rows: end.rows, keys };
}

async function checkFree(location: StoreLocation, { steps }: Head): Promise<void> {
  if (isToBeMade(location)) return;
  await within(await openStore(location, AS_IT_IS), async (store) =>
    store.read(async (db) => {
      const taken = await stepsTaken(db);
      if (taken.length === 0) return;
      // An earlier restore that was killed may have left empty tables.
      if (taken.join() !== steps.join() || !(await isEmptyStore(db))) throw notEmpty();
    }),
  );
}

function notEmpty(): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    'cannot restore: there is a store already (name an empty directory or database, or take the old one away)',
  );
}

async function checkWhole(file: string): Promise<{ head: Head; end: End; keys: number }> {
  const digest = createHash('sha256');
  const rows: Record<string, number> = {};
  let keys = 0;
  let head: Head | undefined;
  let end: End | undefined;
  for await (const { line, value } of valuesOf(file)) {
    if (end !== undefined) throw unreadable(file, 'something stands behind its end');
    if ('format' in value) head = value;
    else if ('table' in value) {
      rows[value.table] = (rows[value.table] ?? 0) + value.rows.length;
      keys += keysCounted(value);
    } else end = value;
    if (head === undefined) break;
    if (end === undefined) digest.update(`${line}\n`);
  }
  if (head?.format !== FORMAT) throw unreadable(file, otherFormat(head?.format));
  const fault = faultOfSteps(head.steps);
  if (fault !== undefined) throw unreadable(file, fault);
  if (end === undefined) throw unreadable(file, 'it is cut off');
  if (end.sha256 !== digest.digest('hex')) throw unreadable(file, 'it was changed or is damaged');
  return { head, end, keys };
}

function otherFormat(format: string | undefined): string {
  // This version has the first format.
  const isNewer = typeof format === 'string' && /^flagkeel-backup\/[1-9]\d{0,8}$/.test(format);
  return isNewer ? `a newer version wrote it (${format})` : 'it is no backup of the service';
}

async function* valuesOf(
  file: string,
): AsyncGenerator<{ readonly line: string; readonly value: Head | Rows | End }> {
  try {
    if (!(await stat(file)).isFile()) throw unreadable(file, 'it is no regular file');
    for await (const line of linesIn(file)) {
      const value: unknown = JSON.parse(line);
      if (typeof value !== 'object' || value === null) throw new SyntaxError('it is no backup');
      yield { line, value: value as Head | Rows | End };
    }
  } catch (error) {
    if (error instanceof FlagkeelError) throw error;
    const why = error instanceof SyntaxError ? 'it is no backup, or cut off' : messageOf(error);
    throw unreadable(file, why, error);
  }
}

/** Lines of backups have about a megabyte, and one row more: any longer one is of another file. */
const LONGEST_LINE = 64 * LINE_LENGTH;

async function* linesIn(file: string): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...more] = chunk.split('\n');
    begun += first;
    if (begun.length > LONGEST_LINE) throw unreadable(file, 'it is no backup: a line has no end');
    for (const each of more) {
      yield begun;
      begun = each;
    }
  }
  if (begun !== '') yield begun;
}

function unreadable(file: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError('STATE_UNREADABLE', `cannot restore "${file}": ${why}`, { cause });
}

/** Whether a store is unused: a service adds its workspace before it listens, so a used store has one. */
async function isEmptyStore(db: Db): Promise<boolean> {
  for (const table of ['workspaces', 'admin_keys', 'audit'] as const) {
    const row = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (row.rows.length > 0) return false;
  }
  return true;
}

/** Both databases limit how many values one statement may have. */
const VALUES_AT_ONCE = 10_000;

async function fillTable(db: Db, { table, columns, rows }: Rows): Promise<void> {
  const names = sql.join(columns.map((name) => sql.ref(name)));
  // Restores ids that the database would otherwise generate.
  const overriding = dialectOf(db) === 'postgres' ? sql`overriding system value` : sql``;
  const atOnce = Math.max(1, Math.floor(VALUES_AT_ONCE / columns.length));
  for await (const part of partsOf(rows, atOnce)) {
    const values = sql.join(part.map((row) => sql`(${sql.join([...row])})`));
    await sql`
      insert into ${sql.table(table)} (${names}) ${overriding} values ${values}`.execute(db);
  }
}

/** Makes PostgreSQL continue counting behind the restored ids; SQLite does so by itself. */
async function goOnCounting(db: Db): Promise<void> {
  if (dialectOf(db) === 'sqlite') return;
  // A copy of an earlier version lacks newer tables.
  const tables = new Set<string>(await tablesOf(db));
  for (const [table, column] of [
    ['activations', 'id'],
    ['audit', 'id'],
    ['change_requests', 'position'],
  ] as const) {
    if (!tables.has(table)) continue;
    const highest = sql`coalesce(max(${sql.ref(column)}), 0) + 1`;
    await sql`
      select setval(pg_get_serial_sequence(${table}::text, ${column}::text), ${highest}, false)
      from ${sql.table(table)}`.execute(db);
  }
}
