import pg from 'pg';
import { FlagkeelError, messageOf } from '../../errors.js';

interface DatabaseOptions {
  readonly url: string;
  /** Timeout of connecting and of one statement. */
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
      throw new FlagkeelError(
        'STATE_UNREADABLE',
        `cannot ask the database of the replicas: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  /**
   * Runs `work` under a lock that all processes share. The lock occupies one connection, so the work needs another.
   *
   * @throws any error of the database or the work.
   */
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

  /** The interface of the queue library. */
  async executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#pool.query(text, values);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Schema of our tables; the queue has its own. */
export const SCHEMA = 'flagkeel_daemon';

/** An arbitrary number, unique to this lock: replicas that start together update the tables one by one. */
const MIGRATION_LOCK = 7_204_118_553;

/**
 * Brings the tables up to date in one transaction. Safe to repeat, also by several replicas at once.
 *
 * - `lease`: who may write what until when. `term` grows with each holder and never goes back, because rows are never
 *   deleted.
 * - `replica`: which replicas exist, and until when at least.
 * - `hold`: requests that hold back a source.
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
create table if not exists ${SCHEMA}.run (
  number bigint generated always as identity primary key,
  source text not null,
  replica text not null,
  run jsonb not null
);
create index if not exists run_source on ${SCHEMA}.run (source, number);
commit;
`;
