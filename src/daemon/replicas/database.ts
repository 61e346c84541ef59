import pg from 'pg';
import { FlagkeelError, messageOf } from '../../errors.js';
import type { SharedRun } from '../source/leadership.js';
import type { ActiveOverrides } from '../view.js';

interface DatabaseOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly connections: number;
  readonly onTrouble: (why: string) => void;
}

/** A pool of connections; the daemon's only access to PostgreSQL. */
export class Database {
  readonly #pool: pg.Pool;

  constructor({ url, timeoutMs, connections, onTrouble }: DatabaseOptions) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      application_name: 'flagkeel',
    });
    this.#pool.on('error', (error) => {
      onTrouble(messageOf(error));
    });
  }

  /** Executes one statement, or several if there are no values. @throws FlagkeelError `STATE_UNREADABLE` */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]> {
    try {
      const { rows } = await this.#pool.query<Row>(text, values && [...values]);
      return rows;
    } catch (error) {
      const message = `cannot ask the database of the replicas: ${messageOf(error)}`;
      throw new FlagkeelError('STATE_UNREADABLE', message, { cause: error });
    }
  }

  /** The lock is shared by all processes and occupies one connection, so the work needs another. */
  async alone<T>(lock: number, work: () => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect();
    connection.on('error', () => undefined);
    try {
      await connection.query('select pg_advisory_lock($1)', [lock]);
      return await work();
    } finally {
      // Destroys the connection, which releases the lock.
      connection.release(true);
    }
  }

  async executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#pool.query(text, values);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

export const SCHEMA = 'flagkeel_daemon';

/** An arbitrary number, unique to this lock: replicas that start together update the tables one by one. */
const MIGRATION_LOCK = 7_204_118_553;

/**
 * Brings the tables up to date in one transaction. Safe to repeat, also by several replicas at once.
 *
 * - `lease`: who may write what until when. `term` grows with each holder and never goes back, because rows are never
 *   deleted.
 * - `replica`: which replicas exist, and until when at least.
 * - `hold`: the last request of each kind that holds back a source or ends that; `version` grows with each.
 * - `run`: results of the last runs of each source.
 */
export const MIGRATION = `
begin;
select pg_advisory_xact_lock(${MIGRATION_LOCK});
create schema if not exists ${SCHEMA};
create table if not exists ${SCHEMA}.lease (
  name text primary key,
  holder text not null,
  term bigint not null,
  expires_at timestamptz not null
);
create table if not exists ${SCHEMA}.replica (
  id text primary key,
  expires_at timestamptz not null
);
create table if not exists ${SCHEMA}.hold (
  source text not null,
  kind text not null,
  value jsonb not null,
  primary key (source, kind)
);
create sequence if not exists ${SCHEMA}.hold_version;
alter table ${SCHEMA}.hold
  add column if not exists version bigint not null default nextval('${SCHEMA}.hold_version');
create table if not exists ${SCHEMA}.run (
  number bigint generated always as identity primary key,
  source text not null,
  replica text not null,
  run jsonb not null
);
create index if not exists run_source on ${SCHEMA}.run (source, number);
commit;
`;

const MAX_RUNS = 100;

export interface NumberedRun {
  readonly number: number;
  readonly source: string;
  readonly replica: string;
  readonly run: SharedRun;
}

export interface SharedOverride {
  readonly source: string;
  readonly kind: keyof ActiveOverrides;
  /** null once the request was taken back. */
  readonly value: ActiveOverrides[keyof ActiveOverrides];
  readonly version: number;
}

export class SharedRecord {
  readonly #database: Database;
  readonly #replica: string;

  constructor(database: Database, replica: string) {
    this.#database = database;
    this.#replica = replica;
  }

  /** The runs of a source become visible in the order of their numbers, so that `runsAfter` misses none. */
  async addRun(source: string, run: SharedRun): Promise<void> {
    await this.#database.query(
      `with turn as (select pg_advisory_xact_lock(hashtext('run'), hashtext($1)))
       insert into ${SCHEMA}.run (source, replica, run) select $1, $2, $3::jsonb from turn`,
      [source, this.#replica, JSON.stringify(run)],
    );
    await this.#database.query(
      `delete from ${SCHEMA}.run where source = $1 and number <= (
         select number from ${SCHEMA}.run where source = $1 order by number desc offset ${MAX_RUNS} limit 1
       )`,
      [source],
    );
  }

  /** Runs by source, oldest first. @param after number of the last known run of each source. */
  async runsAfter(after: ReadonlyMap<string, number>): Promise<readonly NumberedRun[]> {
    const rows = await this.#database.query<Omit<NumberedRun, 'number'> & { number: string }>(
      `select run.number, run.source, run.replica, run.run from ${SCHEMA}.run as run
       join unnest($1::text[], $2::bigint[]) as known (source, number)
         on run.source = known.source and run.number > known.number
       order by run.number`,
      [[...after.keys()], [...after.values()]],
    );
    return rows.map((row) => ({ ...row, number: Number(row.number) }));
  }

  async overrides(): Promise<readonly SharedOverride[]> {
    const rows = await this.#database.query<Omit<SharedOverride, 'version'> & { version: string }>(
      `select source, kind, value, version from ${SCHEMA}.hold`,
    );
    return rows.map((row) => ({ ...row, version: Number(row.version) }));
  }

  /** @returns its version. */
  async setOverride(
    source: string,
    kind: keyof ActiveOverrides,
    value: ActiveOverrides[keyof ActiveOverrides],
  ): Promise<number> {
    const [row] = await this.#database.query<{ version: string }>(
      `insert into ${SCHEMA}.hold (source, kind, value) values ($1, $2, $3)
       on conflict (source, kind) do update
         set value = excluded.value, version = nextval('${SCHEMA}.hold_version')
       returning version`,
      [source, kind, JSON.stringify(value)],
    );
    return Number(row?.version ?? 0);
  }

  /** Registers this replica as alive. @returns how many are. */
  async present(ttlMs: number): Promise<number> {
    await this.#database.query(
      `insert into ${SCHEMA}.replica (id, expires_at)
       values ($1, clock_timestamp() + $2 * interval '1 ms')
       on conflict (id) do update set expires_at = excluded.expires_at`,
      [this.#replica, ttlMs],
    );
    const [row] = await this.#database.query<{ alive: string }>(
      `with gone as (delete from ${SCHEMA}.replica where expires_at <= clock_timestamp() and id <> $1)
       select count(*) as alive from ${SCHEMA}.replica where expires_at > clock_timestamp()`,
      [this.#replica],
    );
    return Math.max(1, Number(row?.alive ?? 1));
  }

  async leave(): Promise<void> {
    await this.#database.query(`delete from ${SCHEMA}.replica where id = $1`, [this.#replica]);
  }
}
