/** Deeper than any object of the interface. Without a limit, a deep value could exhaust the stack of recursive code. */
export const MAX_JSON_DEPTH = 64;

/** About the cost of walking a value, beside its text. */
const VALUE_SIZE = 20;

export function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Three times as fast as a copy by JSON text, or by `structuredClone`, which supports more than JSON. */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isContainer(value)) return value;
  // The spread makes all members own ones, so that assigning to `__proto__` does not change the prototype.
  const copy = { ...value };
  for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name]);
  return copy;
}

/** In any order of members. Twice as fast as `isDeepStrictEqual`, which supports more than JSON. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, index) => isSameJson(each, b[index]));
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  );
}

interface Measures {
  /** The characters of texts and names, and 20 for each value. */
  readonly size: number;
  /** Of lists and objects in each other. */
  readonly depth: number;
}

/** Works without recursion, so that any depth is safe. Stops once the size exceeds `most`. */
export function measuresOf(value: unknown, most = Infinity): Measures {
  const waiting = [{ value, above: 0 }];
  let [size, deepest] = [0, 0];
  for (let next = waiting.pop(); next !== undefined && size <= most; next = waiting.pop()) {
    const { value: each, above } = next;
    size += VALUE_SIZE;
    if (typeof each === 'string') size += each.length;
    if (!isContainer(each)) continue;
    deepest = Math.max(deepest, above + 1);
    if (Array.isArray(each)) {
      for (const element of each as unknown[]) waiting.push({ value: element, above: above + 1 });
      continue;
    }
    for (const name of Object.keys(each)) {
      size += name.length;
      waiting.push({ value: each[name], above: above + 1 });
    }
  }
  return { size, depth: deepest };
}
