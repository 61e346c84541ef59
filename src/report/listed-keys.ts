import type { Json } from '../kinds/json.js';
import type { KeyChange } from '../model/plan.js';
import { keyList } from '../kinds/key-list.js';

/** Whether a matcher lists keys one by one: `IN_LIST_STRING` without an attribute compares the key itself. */
export function listsKeys(matcher: Readonly<Record<string, unknown>>): boolean {
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
  if (Array.isArray(value)) return value.map(maskKeys);
  if (!isRecord(value)) return scalar(value);
  const masked = listsKeys(value)
    ? { ...value, strings: keyList(value['strings'] as string[]).digest }
    : value;
  return sortedMembers(masked, maskKeys);
}

/** The value with members in code-unit order of their names, so that equal values print as equal text. */
export function ordered(value: unknown): Json {
  if (Array.isArray(value)) return value.map(ordered);
  return isRecord(value) ? sortedMembers(value, ordered) : scalar(value);
}

export interface KeyCounts {
  readonly added: number;
  readonly removed: number;
  /** SHA-256 of the keys as they will be. */
  readonly sha256: string;
  readonly addedKeys?: readonly string[];
  readonly removedKeys?: readonly string[];
}

export function keyCounts(keys: KeyChange, showKeys: boolean): KeyCounts {
  const counts = {
    added: keys.added.length,
    removed: keys.removed.length,
    sha256: keys.sha256,
  };
  return showKeys ? { ...counts, addedKeys: keys.added, removedKeys: keys.removed } : counts;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function sortedMembers(
  value: Readonly<Record<string, unknown>>,
  each: (member: unknown) => Json,
): Json {
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name) => [name, each(value[name])]));
}

function scalar(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value;
  throw new Error('bug: a planned value that JSON cannot say');
}
