/** Deeper than any object of the interface; unbounded, it would exhaust the stack of whoever walks it. */
export const MAX_JSON_DEPTH = 64;

/** What a value counts beside its text: about what it costs to walk it. */
const VALUE_SIZE = 20;

/** A value within another, or that other itself. */
interface Visit {
  readonly value: unknown;
  /** Empty for elements of lists. */
  readonly name: string;
  /** Lists and objects that it stands in, itself included. */
  readonly depth: number;
}

/** All values within a JSON value, in no order; without recursion, so that no depth is too much. */
function* visits(value: unknown): Generator<Visit> {
  const waiting: Visit[] = [{ value, name: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const isContainer = typeof next.value === 'object' && next.value !== null;
    const depth = isContainer ? next.depth + 1 : next.depth;
    yield { ...next, depth };
    if (!isContainer) continue;
    for (const [name, member] of Object.entries(next.value as object)) {
      waiting.push({ value: member, name: Array.isArray(next.value) ? '' : name, depth });
    }
  }
}

/**
 * The size of a JSON value: characters of its text and of its names, and 20 for each value. What is larger than `most`
 * is not counted to its end.
 */
export function sizeOf(value: unknown, most = Infinity): number {
  let size = 0;
  for (const visit of visits(value)) {
    size += VALUE_SIZE + visit.name.length;
    if (typeof visit.value === 'string') size += visit.value.length;
    if (size > most) break;
  }
  return size;
}

/** Whether a JSON value has more lists and objects within each other than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown): boolean {
  for (const { depth } of visits(value)) if (depth > MAX_JSON_DEPTH) return true;
  return false;
}
