import { FlaghoistError } from '../errors.js';

/** One page of a list, as far as paging cares. */
export interface Page<T> {
  readonly objects: readonly T[];
  /** Of the whole list. */
  readonly total: number;
}

/** How often a list is begun again because it changed while it was read. */
const MAX_READINGS = 3;

/**
 * Reads a list to its end. The offset advances by the objects received, because a service may give fewer than were
 * asked for. A list that changes under the reading (its total moves, a page comes empty too early, an object comes
 * twice) is read again from the start.
 *
 * @param keyOf what makes an object the same one.
 * @throws FlaghoistError `UNREADABLE`: it could not be read whole; part of a list is never answered.
 */
export async function readWhole<T>(
  what: string,
  keyOf: (object: T) => string,
  readPage: (offset: number) => Promise<Page<T>>,
): Promise<T[]> {
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    // Pages one after the other: where the next one starts depends on what the last one held.
    const objects = await readOnce(keyOf, readPage);
    if (objects) return objects;
  }
  throw new FlaghoistError(
    'UNREADABLE',
    `cannot ${what} whole: it changed while it was read, ${MAX_READINGS} times in a row`,
  );
}

/** Undefined: the list changed meanwhile. */
async function readOnce<T>(
  keyOf: (object: T) => string,
  readPage: (offset: number) => Promise<Page<T>>,
): Promise<T[] | undefined> {
  const objects: T[] = [];
  const seen = new Set<string>();
  let expected: number | undefined;
  for (;;) {
    const { objects: received, total } = await readPage(objects.length);
    expected ??= total;
    if (total !== expected) return undefined;
    for (const object of received) {
      if (seen.has(keyOf(object))) return undefined;
      seen.add(keyOf(object));
      objects.push(object);
    }
    if (objects.length > expected) return undefined;
    if (objects.length === expected) return objects;
    if (received.length === 0) return undefined;
  }
}
