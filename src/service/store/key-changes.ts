import { firstRow, statement } from './statement.js';
import type { Db, KeyChangeRow } from './tables.js';

/** A segment in an environment. The changes outlive the segment, because applications may still ask for them. */
type Place = readonly [environmentId: string, segmentName: string];

/**
 * The most changes that are kept of a segment in an environment. Applications ask every few seconds; one that missed
 * more gets the whole list.
 */
export const KEY_CHANGES_KEPT = 500;

/**
 * Keeps a change of keys under the number of the newest entry of the audit log, which has to be that of the same
 * change, and drops the oldest beyond `KEY_CHANGES_KEPT`.
 */
export async function noteKeyChange(
  db: Db,
  place: Place,
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
): Promise<void> {
  await insertKeyChange(db, ...place, JSON.stringify(added), JSON.stringify(removed));
  await dropOldKeyChanges(db, ...place, KEY_CHANGES_KEPT);
}

const insertKeyChange = statement(`
  insert into key_changes (environment_id, segment, number, added_json, removed_json)
  select cast($1 as text), cast($2 as text), max(id), cast($3 as text), cast($4 as text) from audit`);

const dropOldKeyChanges = statement(`
  delete from key_changes where environment_id = $1 and segment = $2 and number <= (
    select number from key_changes where environment_id = $1 and segment = $2
    order by number desc limit 1 offset $3)`);

/** The changes behind a number, the oldest first. */
export const keyChangesAfter = statement<KeyChangeRow, [...Place, number: number]>(`
  select * from key_changes where environment_id = $1 and segment = $2 and number > $3
  order by number`);

/** The numbers of the oldest change that is kept and of the newest, and how many are kept; null where none is. */
interface KeptKeyChanges {
  readonly oldest: number | null;
  readonly newest: number | null;
  readonly kept: number;
}

export const keptKeyChanges = firstRow<KeptKeyChanges, Place>(`
  select min(number) as oldest, max(number) as newest, count(*) as kept
  from key_changes where environment_id = $1 and segment = $2`);
