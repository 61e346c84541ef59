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

/**
 * Whether all values within a JSON value, itself included, are as `holds` has it. In no order, and without recursion, so that no depth is
 * too much; ends with the first that is not.
 */
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

/** A copy, member by member: three times as fast as by its text, and more so than `structuredClone`, which knows of much else. */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isContainer(value)) return value;
  // It has these members as its own, so that an assignment to one of any name does not change the prototype.
  const copy = { ...value };
  for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name]);
  return copy;
}

/** Whether two JSON values are equal, whatever the order of members. Twice as fast as `isDeepStrictEqual`, which knows of much else. */
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

/**
 * The size of a JSON value: characters of its text and of its names, and 20 for each value. What is larger than `most`
 * is not counted to its end.
 */
export function sizeOf(value: unknown, most = Infinity): number {
  let size = 0;
  everyValue(value, (visit) => {
    size += VALUE_SIZE + visit.name.length;
    if (typeof visit.value === 'string') size += visit.value.length;
    return size <= most;
  });
  return size;
}

/** Whether a JSON value has more lists and objects within each other than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown): boolean {
  return !everyValue(value, ({ depth }) => depth <= MAX_JSON_DEPTH);
}
