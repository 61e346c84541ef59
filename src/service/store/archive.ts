import { written } from '../change-log.js';
import { partsOf } from '../parts.js';
import { newSeeds } from './definitions.js';
import { deleteFlag } from './flags.js';
import { statement } from './statement.js';
import {
  NAMES_AT_ONCE,
  type Db,
  type DefinitionRow,
  type DefinitionUseRow,
  type FlagRow,
} from './tables.js';

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
  const flag = written((await flagsWithId(db, flagId))[0]);
  const definitions = await definitionsOf(db, flagId);
  const uses = await usesOf(db, flagId);
  const rows: ArchivedFlag = { flag, definitions, uses };
  const { id, workspace_id, name } = flag;
  const kept = { id, workspace_id, name, archived_time: now, rows_json: JSON.stringify(rows) };
  await db.insertInto('archived_flags').values(kept).execute();
  await deleteFlag(db, flagId);
}

const flagsWithId = statement<FlagRow, [id: string]>('select * from flags where id = $1');
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
  const query = db
    .selectFrom('archived_flags')
    .where('workspace_id', '=', workspaceId)
    .select('rows_json');
  const row =
    (await query.where('name', '=', nameOrId).executeTakeFirst()) ??
    (await query.where('id', '=', nameOrId).executeTakeFirst());
  return row && (JSON.parse(row.rows_json) as ArchivedFlag);
}

/** Restores all rows of a flag. The environments, traffic type and rollout status that they refer to must exist. */
export async function unarchiveFlag(
  db: Db,
  { flag, definitions, uses }: ArchivedFlag,
): Promise<void> {
  await db.deleteFrom('archived_flags').where('id', '=', flag.id).execute();
  await db.insertInto('flags').values(flag).execute();
  if (definitions.length > 0)
    await db
      .insertInto('definitions')
      // A flag that an earlier version archived has no seeds.
      .values(definitions.map((each) => ({ ...newSeeds(), ...each })))
      .execute();
  for await (const part of partsOf(uses, NAMES_AT_ONCE)) {
    await db.insertInto('definition_uses').values(part).execute();
  }
}
