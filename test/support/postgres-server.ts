import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.js';
import { findProgram } from './requirements.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL; null: there is no PostgreSQL here. */
    readonly postgresServer: string | null;
  }
}

/** Starts the one PostgreSQL server of a project. Runs once, before its files. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (findProgram('postgresql') === null) {
    project.provide('postgresServer', null);
    return undefined;
  }
  const postgres = await startPostgres();
  project.provide('postgresServer', postgres.url);
  return postgres.stop;
}
