import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openSqlite, type SqliteDatabase } from '../../src/platform/sqlite.js';
import type { CutLine } from './cut-line.js';
import type { TestPostgres } from './postgres.js';

/** One way in which a store fails while a service has it open. */
export interface StoreFault<Store> {
  readonly name: string;
  /** What the service answers and says of its health while it lasts. */
  readonly status: 503 | 507;
  readonly message: string;
  /** Breaks the store from outside. @returns mends it. */
  readonly strike: (store: Store) => Promise<() => void | Promise<void>>;
}

/** A directory, and the process that serves it. */
interface ServedDirectory {
  readonly path: string;
  readonly pid: number;
}

/** A database, and the line on which the service reaches it. */
interface ServedDatabase {
  readonly postgres: TestPostgres;
  /** Of the database itself, beside the line. */
  readonly url: string;
  readonly line: CutLine;
}

const LOCKED = 'Another process holds the lock of the store';
const DAMAGED = 'The store is damaged';

const fileOf = ({ path }: ServedDirectory): string => join(path, 'service.sqlite');

/** The log of a store may still grow by a few writes before its disk is full. */
const ROOM_LEFT_BYTES = 20_000;

export const DIRECTORY_FAULTS: readonly StoreFault<ServedDirectory>[] = [
  {
    name: 'locked by another process',
    status: 503,
    message: LOCKED,
    strike: async (store) => {
      const other = openSqlite(fileOf(store));
      while (!does(other, 'begin immediate')) await pause(5);
      return () => {
        other.exec('rollback');
        other.close();
      };
    },
  },
  {
    name: 'disk full',
    status: 507,
    message: 'The disk of the store takes no writes: full, over a quota, or read-only',
    strike: async (store) => {
      await foldLog(store);
      return limitFiles(store, ROOM_LEFT_BYTES);
    },
  },
  {
    name: 'disk read-only',
    status: 507,
    message: 'The disk of the store takes no writes: full, over a quota, or read-only',
    strike: async (store) => Promise.resolve(limitFiles(store, 0)),
  },
  { name: 'damaged', status: 503, message: DAMAGED, strike: damageDirectory },
];

function does(database: SqliteDatabase, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch {
    return false;
  }
}

/** No process can write behind the limit, whatever the disk holds: the system answers as for a disk that is full. */
function limitFiles({ pid }: ServedDirectory, bytes: number): () => void {
  const limit = (most: string): void => {
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${most}:unlimited`]);
  };
  limit(String(bytes));
  return () => {
    limit('unlimited');
  };
}

/** Everything is in the file itself afterwards, and nothing of it in the memory of the process that serves it. */
async function foldLog(store: ServedDirectory): Promise<void> {
  const other = openSqlite(fileOf(store));
  const isFolded = (): boolean => {
    const [row] = other.prepare('pragma wal_checkpoint(truncate)').all([]);
    return (row as { busy: number }).busy === 0;
  };
  while (!does(other, 'create table scratch (a); drop table scratch') || !isFolded()) {
    await pause(5);
  }
  other.close();
}

/** Pages of the table of flags become unreadable. What was written there meanwhile stays when the page is mended. */
async function damageDirectory(store: ServedDirectory): Promise<() => void> {
  await foldLog(store);
  const other = openSqlite(fileOf(store));
  const [row] = other.prepare("select rootpage from sqlite_schema where name = 'flags'").all([]);
  const [size] = other.prepare('pragma page_size').all([]);
  other.close();
  const length = (size as { page_size: number }).page_size;
  const at = ((row as { rootpage: number }).rootpage - 1) * length;
  const whole = Buffer.alloc(length);
  const page = (work: (file: number) => void): void => {
    const file = openSync(fileOf(store), 'r+');
    work(file);
    closeSync(file);
  };
  const broken = Buffer.alloc(length, 0xff);
  page((file) => {
    readSync(file, whole, 0, length, at);
    writeSync(file, broken, 0, length, at);
  });
  return () => {
    page((file) => {
      const now = Buffer.alloc(length);
      readSync(file, now, 0, length, at);
      if (now.equals(broken)) writeSync(file, whole, 0, length, at);
    });
  };
}

const AWAY = { status: 503, message: 'The store does not answer' } as const;

function onLine(
  ...acts: readonly ('cut' | 'mend' | 'silence')[]
): StoreFault<ServedDatabase>['strike'] {
  return async ({ line }) => {
    for (const act of acts) line[act]();
    return Promise.resolve(() => {
      line.mend();
    });
  };
}

/** They reach nothing but the server that the test started. */
export const POSTGRES_FAULTS: readonly StoreFault<ServedDatabase>[] = [
  { name: 'refused', ...AWAY, strike: onLine('cut') },
  { name: 'connections are silent', ...AWAY, strike: onLine('silence') },
  { name: 'new connections are silent', ...AWAY, strike: onLine('cut', 'mend', 'silence') },
  {
    name: 'server frozen (SIGSTOP)',
    ...AWAY,
    strike: async ({ postgres }) => Promise.resolve(freeze(postgres)),
  },
  {
    name: 'server killed (SIGQUIT)',
    ...AWAY,
    strike: async ({ postgres }) => postgres.crash(),
  },
  {
    name: 'statement slow',
    ...AWAY,
    strike: async (store) => refuseRows(store, 'audit', 'perform pg_sleep(20)'),
  },
  {
    name: 'writers locked out',
    status: 503,
    message: LOCKED,
    strike: async (store) => inSession(store, ['select pg_advisory_lock(72616771)']),
  },
  {
    name: 'table locked',
    status: 503,
    message: LOCKED,
    strike: async (store) =>
      inSession(store, ['begin', 'lock table flags in access exclusive mode']),
  },
  {
    name: 'read-only',
    status: 503,
    message: 'The store is read-only',
    strike: async (store) => {
      const become = async (how: 'on' | 'off') =>
        inSession(store, [
          `alter system set default_transaction_read_only = ${how}`,
          'select pg_reload_conf()',
        ]).then(async (end) => end());
      await become('on');
      return async () => become('off');
    },
  },
  {
    name: 'disk full',
    status: 507,
    message: 'The disk of the store is full',
    strike: async (store) =>
      refuseRows(store, 'audit', "raise 'could not extend file' using errcode = '53100'"),
  },
  {
    name: 'not let in',
    status: 503,
    message: 'The store does not let the service in',
    strike: async (store) =>
      inSession(
        store,
        ['alter role postgres with nologin', END_OTHERS],
        ['alter role postgres with login'],
      ),
  },
  { name: 'damaged', status: 503, message: DAMAGED, strike: damageDatabase },
];

export function faultCalled<Store>(
  faults: readonly StoreFault<Store>[],
  name: string,
): StoreFault<Store> {
  const fault = faults.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`bug: no fault is called ${name}`);
  return fault;
}

/** Waits for their end: one that ends later would fail a later request in its own way. */
export const END_OTHERS =
  'select pg_terminate_backend(pid, 30000) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()';

/** The connection stays open until it is mended, with all that it holds. */
async function inSession(
  { url }: ServedDatabase,
  statements: readonly string[],
  toMend: readonly string[] = [],
): Promise<() => Promise<void>> {
  const session = new pg.Client({ connectionString: url });
  session.on('error', () => undefined);
  await session.connect();
  for (const statement of statements) await session.query(statement);
  return async () => {
    for (const statement of toMend) await session.query(statement);
    await session.end();
  };
}

async function refuseRows(
  store: ServedDatabase,
  table: string,
  body: string,
): Promise<() => Promise<void>> {
  return inSession(
    store,
    [
      `create function fault() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
      `create trigger fault before insert on ${table} execute function fault()`,
    ],
    [`drop trigger fault on ${table}`, 'drop function fault()'],
  );
}

/** The server and all processes of it. */
function freeze({ directory }: TestPostgres): () => void {
  const [server = ''] = readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8');
  const pids = [server, ...children.trim().split(' ')].map(Number);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

/**
 * The pages of the table of flags become unreadable while the server is down, so that it has none of them in memory. What
 * it writes there afterwards stays when they are mended.
 */
async function damageDatabase({ postgres, url }: ServedDatabase): Promise<() => void> {
  const session = new pg.Client({ connectionString: url });
  session.on('error', () => undefined);
  await session.connect();
  const { rows } = await session.query<{ path: string }>(
    "select pg_relation_filepath('flags') as path",
  );
  await session.query('begin');
  await session.query('lock table flags in access exclusive mode');
  await session.query('checkpoint');
  const start = await postgres.crash();
  const file = join(postgres.directory, 'data', rows[0]?.path ?? '');
  const whole = readFileSync(file);
  const broken = Buffer.alloc(DATABASE_PAGE, 0xff);
  writePages(file, whole, () => broken);
  await start();
  return () => {
    const now = readFileSync(file);
    writePages(file, whole, (page, at) =>
      now.subarray(at, at + DATABASE_PAGE).equals(broken) ? page : undefined,
    );
  };
}

const DATABASE_PAGE = 8192;

function writePages(
  path: string,
  whole: Buffer,
  choose: (page: Buffer, at: number) => Buffer | undefined,
): void {
  const file = openSync(path, 'r+');
  for (let at = 0; at < whole.length; at += DATABASE_PAGE) {
    const page = choose(whole.subarray(at, at + DATABASE_PAGE), at);
    if (page !== undefined) writeSync(file, page, 0, page.length, at);
  }
  closeSync(file);
}
