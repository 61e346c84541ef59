import { inject } from 'vitest';
import { createDatabase, startPostgres } from './postgres.js';

export interface TestDatabase {
  /** Of a superuser in an empty database; no password. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * A database that nobody else uses: on the project's server, or on a server of its own where the project starts none. Ask
 * `lacks('postgresql')` first.
 */
export async function openDatabase(): Promise<TestDatabase> {
  // A project without a server provides nothing, of which the types know nothing.
  const server = inject('postgresServer') as string | null | undefined;
  if (typeof server !== 'string') return startPostgres();
  // The server ends with its project, and all its databases with it.
  return { url: await createDatabase(server), stop: async () => Promise.resolve() };
}
