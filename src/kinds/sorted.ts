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
