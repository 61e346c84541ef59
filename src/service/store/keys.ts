import { changedKeys, compareBytes, sortedByBytes, type ChangedKeys } from '../rules/keys.js';
import type { Page } from '../rules/members.js';
import { firstRow, statement } from './statement.js';
import type { Db, KeyBlockRow, KeyChangeRow } from './tables.js';

/*
 * The keys of a segment in an environment stand in blocks: a row holds a list of keys, and blocks do not overlap. An
 * upload of ten thousand keys writes twenty rows, in a tenth of the time that one row for each key takes.
 *
 * All lists of keys here are sorted by bytes and have each key once.
 */

type Keys = readonly string[];

/** Keys in a new block. A block that grows beyond twice as many is split. */
const BLOCK_SIZE = 500;

/** @returns the keys that the segment did not have. */
export async function addKeys(db: Db, activationId: number, keys: Keys): Promise<string[]> {
  return changeBlocks(db, activationId, keys, (held, given) => {
    const { added } = changedKeys(held, given);
    return { changed: added, after: sortedByBytes([...held, ...added]) };
  });
}

/** @returns the keys that the segment had. */
export async function removeKeys(db: Db, activationId: number, keys: Keys): Promise<string[]> {
  return changeBlocks(db, activationId, keys, (held, given) => {
    const after = changedKeys(given, held).added;
    return { changed: changedKeys(held, after).removed, after };
  });
}

export async function replaceKeys(db: Db, activationId: number, keys: Keys): Promise<ChangedKeys> {
  const changed = changedKeys(await allKeys(db, activationId), keys);
  if (changed.added.length > 0 || changed.removed.length > 0) {
    await removeAllKeys(db, activationId);
    await insertBlocks(db, blocksOf(activationId, keys));
  }
  return changed;
}

/** All keys of a segment, at most the contract's 100,000. */
export async function allKeys(db: Db, activationId: number): Promise<string[]> {
  return (await listsOfKeys(db, activationId)).flatMap(keysOf);
}

const listsOfKeys = statement<Pick<KeyBlockRow, 'keys_json'>>(
  'select keys_json from key_blocks where activation_id = $1 order by first',
);

export async function listKeys(
  db: Db,
  activationId: number,
  { offset, limit }: Page,
): Promise<string[]> {
  const blocks = await blocksOfPage(db, activationId, offset + limit, offset);
  const skipped = offset - (blocks[0]?.start ?? 0);
  return blocks.flatMap(keysOf).slice(skipped, skipped + limit);
}

/** The numbers of keys come first, because a list may be long and most are not on the page. */
const blocksOfPage = statement<Pick<KeyBlockRow, 'keys_json'> & { readonly start: number }>(`
  with counted as (
    select first, key_count, sum(key_count) over (order by first) - key_count as start
    from key_blocks where activation_id = $1)
  select counted.start, key_blocks.keys_json
  from counted join key_blocks on key_blocks.activation_id = $1 and key_blocks.first = counted.first
  where counted.start < $2 and counted.start + counted.key_count > $3
  order by counted.first`);

/** @param wanted `contains` is a part of the key, in upper or lower case of ASCII; if empty, any key matches. */
export async function searchKeys(
  db: Db,
  activationId: number,
  wanted: { readonly contains: string; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const part = lowerCaseOf(wanted.contains);
  const keys = await allKeys(db, activationId);
  return keys
    .filter((key) => compareBytes(key, wanted.after) > 0 && lowerCaseOf(key).includes(part))
    .slice(0, wanted.limit);
}

function lowerCaseOf(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const removeAllKeys = statement('delete from key_blocks where activation_id = $1');

/** The names of the segments of an environment that hold a key, sorted by their bytes. */
export async function segmentsHolding(
  db: Db,
  environmentId: string,
  key: string,
): Promise<string[]> {
  const segments = await blocksWithPlaceFor(db, key, environmentId);
  return segments
    .filter(({ keys_json }) => keys_json !== null && keysOf({ keys_json }).includes(key))
    .map(({ name }) => name);
}

const blocksWithPlaceFor = statement<{ readonly name: string; readonly keys_json: string | null }>(`
  select segments.name, (
    select keys_json from key_blocks
    where key_blocks.activation_id = activations.id and first <= $1
    order by first desc limit 1) as keys_json
  from activations join segments on segments.id = activations.segment_id
  where activations.environment_id = $2 order by segments.name`);

async function changeBlocks(
  db: Db,
  activationId: number,
  keys: Keys,
  change: (held: Keys, given: Keys) => { readonly changed: Keys; readonly after: Keys },
): Promise<string[]> {
  const gone: string[] = [];
  const written: KeyBlockRow[] = [];
  const all: string[] = [];
  for (const { first, held, given } of await placesOf(db, activationId, keys)) {
    const { changed, after } = change(held, given);
    if (changed.length === 0) continue;
    if (first !== undefined) gone.push(first);
    written.push(...blocksOf(activationId, after));
    all.push(...changed);
  }
  if (gone.length > 0) {
    await db
      .deleteFrom('key_blocks')
      .where('activation_id', '=', activationId)
      .where('first', 'in', gone)
      .execute();
  }
  await insertBlocks(db, written);
  return all;
}

/** Some of the keys of a change, and what the block holds in which they have their place. */
interface KeyPlace {
  /** Undefined if the segment has no block yet. */
  readonly first: string | undefined;
  readonly held: Keys;
  readonly given: Keys;
}

async function placesOf(db: Db, activationId: number, keys: Keys): Promise<KeyPlace[]> {
  const [lowest] = keys;
  const highest = keys.at(-1);
  if (lowest === undefined || highest === undefined) return [];
  const blocks = await blocksBetween(db, activationId, lowest, highest);
  if (blocks.length === 0) return [{ first: undefined, held: [], given: keys }];
  let at = 0;
  return blocks.map((block, index) => {
    const next = blocks[index + 1]?.first;
    const start = at;
    while (at < keys.length && isBefore(keys[at] ?? '', next)) at += 1;
    return { first: block.first, held: keysOf(block), given: keys.slice(start, at) };
  });
}

function isBefore(key: string, first: string | undefined): boolean {
  return first === undefined || compareBytes(key, first) < 0;
}

/** Keys that sort before all blocks have their place in the first one. */
const blocksBetween = statement<Pick<KeyBlockRow, 'first' | 'keys_json'>>(`
  with lowest as (
    select coalesce(
      (select max(first) from key_blocks where activation_id = $1 and first <= $2),
      (select min(first) from key_blocks where activation_id = $1)) as first)
  select key_blocks.first, key_blocks.keys_json from key_blocks, lowest
  where key_blocks.activation_id = $1 and key_blocks.first >= lowest.first
    and (key_blocks.first = lowest.first or key_blocks.first <= $3)
  order by key_blocks.first`);

function blocksOf(activationId: number, keys: Keys): KeyBlockRow[] {
  const size = keys.length <= 2 * BLOCK_SIZE ? 2 * BLOCK_SIZE : BLOCK_SIZE;
  const blocks: KeyBlockRow[] = [];
  for (let start = 0; start < keys.length; start += size) {
    const own = keys.slice(start, start + size);
    const [first = ''] = own;
    const keys_json = JSON.stringify(own);
    blocks.push({ activation_id: activationId, first, key_count: own.length, keys_json });
  }
  return blocks;
}

async function insertBlocks(db: Db, blocks: readonly KeyBlockRow[]): Promise<void> {
  if (blocks.length > 0) await db.insertInto('key_blocks').values(blocks).execute();
}

function keysOf({ keys_json }: Pick<KeyBlockRow, 'keys_json'>): string[] {
  return JSON.parse(keys_json) as string[];
}

/** A segment in an environment. The changes outlive the segment, because applications may still ask for them. */
type SegmentPlace = readonly [environmentId: string, segmentName: string];

/** Of a segment in an environment. Applications ask every few seconds; one that missed more gets the whole list. */
export const KEY_CHANGES_KEPT = 500;

/** Keeps a change of keys under the number of the newest entry of the audit log, which has to be that of the change. */
export async function noteKeyChange(
  db: Db,
  place: SegmentPlace,
  { added, removed }: ChangedKeys,
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

export const keyChangesAfter = statement<KeyChangeRow, [...SegmentPlace, number: number]>(`
  select * from key_changes where environment_id = $1 and segment = $2 and number > $3
  order by number`);

/** The numbers of the oldest change that is kept and of the newest, both 0 if there is none. */
export const keptKeyChanges = firstRow<
  { readonly oldest: number; readonly newest: number; readonly count: number },
  SegmentPlace
>(`
  select coalesce(min(number), 0) as oldest, coalesce(max(number), 0) as newest, count(*) as count
  from key_changes where environment_id = $1 and segment = $2`);
