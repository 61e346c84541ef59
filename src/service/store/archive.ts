import { written } from '../change-log.js';
import { newSeeds } from './definitions.js';
import { deleteFlag } from './flags.js';
import { firstRow, insert, statement } from './statement.js';
import type { Db, DefinitionRow, DefinitionUseRow, FlagRow } from './tables.js';

/**
 * An archived flag. All its rows leave the tables of flags and are kept as JSON, so that no list, rule or count can see
 * an archived flag by mistake.
 */
export interface ArchivedFlag {
  readonly flag: FlagRow;
  readonly definitions: readonly DefinitionRow[];
  readonly uses: readonly DefinitionUseRow[];
}

export async function archiveFlag(db: Db, flagId: string, now: number): Promise<void> {
  const rows: ArchivedFlag = {
    flag: written(await flagWithId(db, flagId)),
    definitions: await definitionsOf(db, flagId),
    uses: await usesOf(db, flagId),
  };
  const { id, workspace_id, name } = rows.flag;
  const kept = { id, workspace_id, name, archived_time: now, rows_json: JSON.stringify(rows) };
  await insert(db, 'archived_flags', [kept]);
  await deleteFlag(db, flagId);
}

const flagWithId = firstRow<FlagRow, [id: string]>('select * from flags where id = $1');
const definitionsOf = statement<DefinitionRow, [flagId: string]>(
  'select * from definitions where flag_id = $1',
);
const usesOf = statement<DefinitionUseRow, [flagId: string]>(
  'select * from definition_uses where flag_id = $1',
);

/** A flag of this name comes before one with this id. */
export async function findArchived(
  db: Db,
  workspaceId: string,
  nameOrId: string,
): Promise<ArchivedFlag | undefined> {
  const row = await archivedCalled(db, workspaceId, nameOrId);
  return row && (JSON.parse(row.rows_json) as ArchivedFlag);
}

const archivedCalled = firstRow<{ rows_json: string }, [workspaceId: string, nameOrId: string]>(`
  select rows_json from archived_flags where workspace_id = $1 and (name = $2 or id = $2)
  order by case when name = $2 then 0 else 1 end`);

/** Restores all rows of a flag. The environments, traffic type and rollout status that they refer to must exist. */
export async function unarchiveFlag(
  db: Db,
  { flag, definitions, uses }: ArchivedFlag,
): Promise<void> {
  await db.deleteFrom('archived_flags').where('id', '=', flag.id).execute();
  await insert(db, 'flags', [flag]);
  // A flag that an earlier version archived has no seeds.
  const seeded = definitions.map((each) => ({ ...newSeeds(), ...each }));
  await insert(db, 'definitions', seeded);
  await insert(db, 'definition_uses', uses);
}
