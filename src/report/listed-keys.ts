import type { Json } from '../kinds/json.js';
import type { KeyChange } from '../model/plan.js';
import { keyList } from '../kinds/key-list.js';
import { isTexts, ordered } from './json-text.js';

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

export interface KeyCounts {
  readonly added: number;
  readonly removed: number;
  /** Of identities only. */
  readonly changed?: number;
  /** SHA-256 of the keys as they will be. */
  readonly sha256: string;
  readonly addedKeys?: readonly string[];
  readonly removedKeys?: readonly string[];
  readonly changedKeys?: readonly string[];
}

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
