import { byCodeUnits } from './json.js';

/** The keys whose values are not the same object in two maps, or that only one has; removed keys come last. */
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

/** Binary search in code-unit order, for a few look-ups in a long list, where building an index would take longer. */
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
  // Entries from files mostly arrive in order of their paths, so they need no sorting.
  const isSorted = all.every(([key], at) => at === 0 || (all[at - 1]?.[0] ?? '') <= key);
  return new Map(isSorted ? all : all.sort(([a], [b]) => byCodeUnits(a, b)));
}

/** For names that people choose: an inherited `constructor` or `toString` must not count. */
export function ownMember<T>(
  record: Readonly<Record<string, T>> | undefined,
  name: string,
): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Node 20 has no `Map.groupBy`. */
export function grouped<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) keptIn(groups, keyOf(item), () => []).push(item);
  return groups;
}

/** The value of a key; one that is missing is made and kept. */
export function keptIn<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

export function present<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as ReturnType<typeof present<T>>;
}

/** The last result for each object, for as long as the other inputs are the same. */
export class Memory<K extends WeakKey, V> {
  readonly #known = new WeakMap<K, { readonly from: readonly unknown[]; readonly value: V }>();

  /** @param from all inputs of `make` besides `about`; compared one by one, objects by identity. */
  of(about: K, from: readonly unknown[], make: () => V): V {
    const known = this.#known.get(about);
    const isSame = known?.from.every((each, i) => each === from[i]) === true;
    if (known && isSame && known.from.length === from.length) return known.value;
    const value = make();
    this.#known.set(about, { from, value });
    return value;
  }
}

/** The function with its results by key. */
export function eachOnce<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return async (key) => keptIn(known, key, async () => read(key));
}

/** Comparing costs the product of the lengths: beyond this, too much for the old spelling of a few lines of a file. */
const MOST_COMPARISONS = 4_000_000;

/** Position in `is` → position in `was`, of a longest common subsequence. */
export function commonPositions<T>(was: readonly T[], is: readonly T[]): Map<number, number> {
  const most = Math.min(was.length, is.length);
  let head = 0;
  while (head < most && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < most - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  const kept = new Map<number, number>();
  for (let at = 0; at < head; at += 1) kept.set(at, at);
  for (let at = 1; at <= tail; at += 1) kept.set(is.length - at, was.length - at);
  const middle = { was: was.slice(head, was.length - tail), is: is.slice(head, is.length - tail) };
  for (const [a, b] of longestCommon(middle.was, middle.is)) kept.set(head + b, head + a);
  return kept;
}

/** Pairs of positions; empty if the lists are too long to compare. */
function longestCommon<T>(a: readonly T[], b: readonly T[]): [number, number][] {
  if (a.length * b.length > MOST_COMPARISONS) return [];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
