import type { Keys } from '../generated/plan.schema.d.js';
import type { KeyChange } from '../model/plan.js';
import { noBreak } from './text/layout.js';
import { itemText } from './values.js';
import type { Json } from '../model/json.js';
import { keyList } from '../model/segment-keys.js';
import { isTexts, ordered } from './json-value.js';

const SHOWN_KEYS = 5;

/** Numbers of keys: `+120 −3 keys`; with `showKeys` the first keys of each, or all with `inFull`. */
export function keysText(
  keys: Pick<KeyChange, 'added' | 'removed'>,
  { showKeys, inFull = false }: { readonly showKeys: boolean; readonly inFull?: boolean },
): string {
  const { added, removed } = keys;
  const counts = noBreak(`+${String(added.length)} −${String(removed.length)} keys`);
  if (!showKeys || added.length + removed.length === 0) return counts;
  const limit = inFull ? Infinity : SHOWN_KEYS;
  const parts = [
    ...(added.length > 0 ? [`+ ${itemText(added, limit)}`] : []),
    ...(removed.length > 0 ? [`− ${itemText(removed, limit)}`] : []),
  ];
  return `${counts}: ${parts.join('; ')}`;
}

/** Whether a matcher lists keys one by one: `IN_LIST_STRING` without an attribute compares the key itself. */
export function listsKeys(
  matcher: Readonly<Record<string, unknown>>,
): matcher is { readonly strings: readonly string[] } {
  return (
    matcher['type'] === 'IN_LIST_STRING' &&
    matcher['attribute'] === undefined &&
    isTexts(matcher['strings'])
  );
}

/**
 * A field's value with `{count, sha256}` in place of the lists of keys in its rules, and members in code-unit order of
 * their names. Everything else stays unchanged.
 */
export function maskKeys(value: unknown): Json {
  return ordered(value, (record) => {
    if (!listsKeys(record)) return record;
    return { ...record, strings: keyList(record.strings).digest };
  });
}

/** The numbers of a key change in the form of documents, and with `showKeys` the keys; undefined if no keys change. */
export function keyCounts(
  keys: KeyChange | undefined,
  { showKeys }: { readonly showKeys: boolean },
): Keys | undefined {
  if (!keys) return undefined;
  const { added, removed, changed, sha256 } = keys;
  return {
    added: added.length,
    removed: removed.length,
    ...(changed && { changed: changed.length }),
    sha256,
    ...(showKeys && {
      addedKeys: [...added],
      removedKeys: [...removed],
      ...(changed && { changedKeys: [...changed] }),
    }),
  };
}
