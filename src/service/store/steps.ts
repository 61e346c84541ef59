import { sql } from 'kysely';
import { FlagkeelError } from '../../errors.js';
import { migrations, type Dialect } from './migrations.js';
import type { Db } from './tables.js';

/**
 * The steps of the migration that a store has taken, in their order; empty if it has no tables.
 *
 * @throws FlagkeelError (STATE_UNREADABLE) one of them is of a newer version.
 */
export async function stepsTaken(db: Db, dialect: Dialect): Promise<string[]> {
  if (!(await hasSteps(db, dialect))) return [];
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  const steps = rows.map(({ name }) => name);
  const unknown = unknownStep(steps, dialect);
  if (unknown === undefined) return steps;
  throw new FlagkeelError(
    'STATE_UNREADABLE',
    `cannot read the store: a newer version wrote it, with the step ${unknown} (use that version, or restore the backup from before it)`,
  );
}

/** The first step that this version does not know. */
export function unknownStep(steps: readonly string[], dialect: Dialect): string | undefined {
  return steps.find((step) => !(step in migrations(dialect)));
}

/** One question, because each start of a service asks it. */
async function hasSteps(db: Db, dialect: Dialect): Promise<boolean> {
  const { rows } = await (
    dialect === 'sqlite'
      ? sql<{ found: string | null }>`
        select name as found from sqlite_master where name = 'kysely_migration'`
      : sql<{ found: string | null }>`select to_regclass('kysely_migration')::text as found`
  ).execute(db);
  return typeof rows[0]?.found === 'string';
}
