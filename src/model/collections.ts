import { byCodeUnits } from './json.js';

/**
 * The keys that one map has otherwise than the other, or not at all; those that are gone last. By identity: who keeps what
 * did not change finds out what did without looking into it.
 */
export function changedKeys<T>(
  before: ReadonlyMap<string, T>,
  now: ReadonlyMap<string, T>,
): string[] {
  if (before === now) return [];
  const changed: string[] = [];
  for (const [key, value] of now) if (before.get(key) !== value) changed.push(key);
  for (const key of before.keys()) if (!now.has(key)) changed.push(key);
  return changed;
}

/**
 * Finds by its key, in code-unit order, what a sorted list holds; undefined: nothing of that key. For few questions to a
 * long list, where an index of it would take longer.
 */
export function findSorted<T>(
  sorted: readonly T[],
  key: string,
  keyOf: (each: T) => string,
): T | undefined {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const each = sorted[middle];
    if (each !== undefined && keyOf(each) < key) from = middle + 1;
    else to = middle;
  }
  const found = sorted[from];
  return found !== undefined && keyOf(found) === key ? found : undefined;
}

/** A map that iterates in code-unit order of its keys. */
export function sortedMap<V>(entries: Iterable<readonly [string, V]>): Map<string, V> {
  const all = [...entries];
  // What comes from files in order of their paths is in order already, more often than not.
  const isSorted = all.every(([key], at) => at === 0 || (all[at - 1]?.[0] ?? '') <= key);
  return new Map(isSorted ? all : all.sort(([a], [b]) => byCodeUnits(a, b)));
}

/**
 * The member that a record has itself; undefined: none. For names that people choose: `constructor` and `toString` are
 * names like any other, and every object inherits something by them.
 */
export function ownMember<T>(
  record: Readonly<Record<string, T>> | undefined,
  name: string,
): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
