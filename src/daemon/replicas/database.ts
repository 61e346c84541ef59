import pg from 'pg';
import { FlagkeelError, messageOf } from '../../errors.js';

export interface DatabaseOptions {
  /** `postgres://…` */
  readonly url: string;
  /** A connection or a statement that takes longer has failed. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Told when a connection that nobody uses breaks. */
  readonly onTrouble: (why: string) => void;
}

/** A pool of connections; the only door to PostgreSQL in the daemon. */
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

  /**
   * One statement; several where there are no values.
   *
   * @throws FlagkeelError `STATE_UNREADABLE`
   */
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
   * Waits until no other process does something under the same lock, and does it. It takes a connection for that time: the
   * work needs another one.
   *
   * @throws what the database or the work throws.
   */
  async alone<T>(lock: number, work: () => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect();
    connection.on('error', () => undefined);
    try {
      await connection.query('select pg_advisory_lock($1)', [lock]);
      return await work();
    } finally {
      // The lock ends with the connection.
      connection.release(true);
    }
  }

  /** For a library that brings statements of its own. */
  async executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#pool.query(text, values);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
