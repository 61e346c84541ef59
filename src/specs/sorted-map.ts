import { byCodeUnits } from '../kinds/json.js';

/** A map that iterates in code-unit order of its keys. */
export function sortedMap<V>(entries: Iterable<readonly [string, V]>): Map<string, V> {
  return new Map([...entries].toSorted(([a], [b]) => byCodeUnits(a, b)));
}
