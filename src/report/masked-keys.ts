import type { KeyChange } from '../model/plan.js';
import { noBreak } from './text/layout.js';
import { itemText } from './values.js';
import type { Json } from '../model/json.js';
import { keyList } from '../model/segment-keys.js';
import { isTexts, ordered } from './json-value.js';

const SHOWN_KEYS = 5;

/** Numbers of keys: `+120 −3 keys`; with `showKeys` the first keys of each. */
export function keysText(keys: KeyChange, showKeys: boolean): string {
  const { added, removed } = keys;
  const counts = noBreak(`+${String(added.length)} −${String(removed.length)} keys`);
  if (!showKeys || added.length + removed.length === 0) return counts;
  const parts = [
    ...(added.length > 0 ? [`+ ${itemText(added, SHOWN_KEYS)}`] : []),
    ...(removed.length > 0 ? [`− ${itemText(removed, SHOWN_KEYS)}`] : []),
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
 * A field's value with the lists of keys in its rules replaced by `{count, sha256}`, and members in code-unit order of
 * their names. Nothing else is changed.
 */
export function maskKeys(value: unknown): Json {
  return ordered(value, (record) => {
    if (!listsKeys(record)) return record;
    return { ...record, strings: keyList(record.strings).digest };
  });
}

/**
 * What a document says of a change to a list of keys. The keys themselves stand there only where
 * keys are shown.
 */
export interface KeyCounts {
  readonly added: number;
  readonly removed: number;
  /** Only of identities: those whose attributes change. */
  readonly changed?: number;
  /** SHA-256 of the keys as they will be. */
  readonly sha256: string;
  readonly addedKeys?: readonly string[];
  readonly removedKeys?: readonly string[];
  readonly changedKeys?: readonly string[];
}

/** The numbers of a key change, and with `showKeys` the keys. */
export function keyCounts(keys: KeyChange, showKeys: boolean): KeyCounts {
  const counts = {
    added: keys.added.length,
    removed: keys.removed.length,
    ...(keys.changed && { changed: keys.changed.length }),
    sha256: keys.sha256,
  };
  if (!showKeys) return counts;
  return {
    ...counts,
    addedKeys: keys.added,
    removedKeys: keys.removed,
    ...(keys.changed && { changedKeys: keys.changed }),
  };
}
