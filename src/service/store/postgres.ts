import { Socket } from 'node:net';
import { PostgresDialect, type Dialect as KyselyDialect } from 'kysely';
import type { Client, Pool, PoolClient, PoolConfig } from 'pg';
import { failure } from './failures.js';
import { firstRow, type Lookup, type LookUp } from './statement.js';
import type { Db } from './tables.js';

/** What differs between the databases. */
export interface StoreParts {
  readonly kysely: KyselyDialect;
  readonly lookUp: (db: Db, isWriting: () => boolean) => LookUp;
  readonly ping: () => Promise<void>;
  readonly version: () => Promise<unknown>;
  /** Prepares the next try after a failure. */
  readonly afterFailure: (code: string) => void;
}

/** Transactions take milliseconds. Then PostgreSQL takes the turn as writer away from a process that froze. */
const MAX_IDLE_IN_TRANSACTION_MS = 10_000;

/**
 * Waiting for a connection and then for an answer has to end within ten seconds. Each limit names its cause, so the one
 * of the lock ends first, and that of the socket last.
 */
const CONNECT_WITHIN_MS = 3_000;
const LOCK_WITHIN_MS = 4_000;
const STATEMENT_WITHIN_MS = 4_500;
const SILENT_FOR_MS = 5_000;

const lastChange = firstRow<{ readonly last: number | null }, []>(
  'select max(id) as last from audit',
);

const PROMPT: PoolConfig = {
  lock_timeout: LOCK_WITHIN_MS,
  statement_timeout: STATEMENT_WITHIN_MS,
  // The pool closes an idle connection before its socket counts as silent.
  idleTimeoutMillis: SILENT_FOR_MS - 1_000,
  stream: socketThatMustAnswer,
};

/** @param patience a patient one waits for each statement as long as it takes. */
export async function postgresParts(
  url: string,
  patience: 'prompt' | 'patient',
): Promise<StoreParts> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    ...(patience === 'prompt' ? PROMPT : {}),
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
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
  // On any free connection: PostgreSQL shows only committed changes.
  const lookUp = async <Row>({ name, compiled }: Lookup, values: readonly unknown[]) => {
    const { rows } = await pool.query({ name, text: compiled.sql, values: [...values] });
    return rows as Row[];
  };
  return {
    kysely: new PostgresDialect({ pool }),
    lookUp: () => lookUp,
    // Every change of an object is in the audit log, whose ids grow in the order in which writers commit.
    version: async () => (await lastChange(lookUp))?.last ?? 0,
    ping: async () => {
      const { rows } = await pool.query<{ on: string }>(
        "select current_setting('transaction_read_only') as on",
      );
      if (rows[0]?.on === 'on') throw failure('25006', 'PostgreSQL takes no writes');
    },
    afterFailure: replaceReadOnly(pool),
  };
}

function socketThatMustAnswer(): Socket {
  const socket = new Socket();
  return socket.setTimeout(SILENT_FOR_MS, () => {
    socket.destroy(failure('ETIMEDOUT', `PostgreSQL was silent for ${SILENT_FOR_MS} ms`));
  });
}

/** A connection stays read-only after the server takes writes again, so each that was open ends after its next use. */
function replaceReadOnly(pool: Pool): StoreParts['afterFailure'] {
  let trusted = new WeakSet<PoolClient>();
  pool.on('connect', (client) => trusted.add(client));
  pool.on('release', (_, client) => {
    if (!trusted.has(client)) void (client as unknown as Client).end();
  });
  return (code) => {
    if (code === '25006') trusted = new WeakSet();
  };
}
