import { byCodeUnits } from '../kinds/json.js';

/** A map that iterates in code-unit order of its keys. */
export function sortedMap<V>(entries: Iterable<readonly [string, V]>): Map<string, V> {
  const all = [...entries];
  // What comes from files in order of their paths is in order already, more often than not.
  const isSorted = all.every(([key], at) => at === 0 || (all[at - 1]?.[0] ?? '') <= key);
  return new Map(isSorted ? all : all.sort(([a], [b]) => byCodeUnits(a, b)));
}
