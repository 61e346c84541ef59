import pg from 'pg';
import { FlagkeelError, messageOf } from '../../errors.js';

export interface DatabaseOptions {
  /** `postgres://…` */
  readonly url: string;
  /** Timeout of connecting and of one statement. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Called when an idle connection breaks. */
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
   * Runs `work` while holding an exclusive lock that all processes share. The lock occupies one connection, so the work
   * needs another one.
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

  /** For the queue library, which has its own statements. */
  async executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#pool.query(text, values);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
