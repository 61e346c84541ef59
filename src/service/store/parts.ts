import type { Dialect as KyselyDialect } from 'kysely';
import type { Dialect } from './migrations.js';
import type { PreparedRead } from './statement.js';
import type { Db } from './tables.js';

/** What differs between the databases. */
export interface StoreParts {
  readonly dialect: Dialect;
  readonly kysely: KyselyDialect;
  readonly lookUp: (db: Db, isWriting: () => boolean) => PreparedRead;
  readonly ping: () => Promise<void>;
  readonly version: () => Promise<unknown>;
  /** Prepares the next try after a failure. */
  readonly afterFailure: (code: string) => void;
}
