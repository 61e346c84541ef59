/** Deeper than any object of the interface. Without a limit, a deep value could exhaust the stack of recursive code. */
export const MAX_JSON_DEPTH = 64;

/** About the cost of walking a value, beside its text. */
const VALUE_SIZE = 20;

interface Visit {
  readonly value: unknown;
  /** Empty for elements of lists. */
  readonly name: string;
  /** Number of lists and objects around it, itself included. */
  readonly depth: number;
}

/** In any order. Works without recursion, so that any depth is safe, and stops at the first value that fails. */
function everyValue(value: unknown, holds: (visit: Visit) => boolean): boolean {
  const waiting = [visitOf(value, '', 0)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!holds(next)) return false;
    const { value: container, depth } = next;
    if (Array.isArray(container)) {
      for (const element of container) waiting.push(visitOf(element, '', depth));
    } else if (isContainer(container)) {
      for (const name of Object.keys(container)) {
        waiting.push(visitOf(container[name], name, depth));
      }
    }
  }
  return true;
}

function visitOf(value: unknown, name: string, above: number): Visit {
  return { value, name, depth: isContainer(value) ? above + 1 : above };
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Three times as fast as a copy by JSON text, and even faster than `structuredClone`, which supports more than JSON.
 */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isContainer(value)) return value;
  // The spread makes all members own ones, so that assigning to a name such as `__proto__` does not change the
  // prototype.
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

/** The characters of its texts and names, and 20 for each value. Stops counting once the size exceeds `most`. */
export function sizeOf(value: unknown, most = Infinity): number {
  let size = 0;
  everyValue(value, (visit) => {
    size += VALUE_SIZE + visit.name.length;
    if (typeof visit.value === 'string') size += visit.value.length;
    return size <= most;
  });
  return size;
}

export function isTooDeep(value: unknown): boolean {
  return !everyValue(value, ({ depth }) => depth <= MAX_JSON_DEPTH);
}
