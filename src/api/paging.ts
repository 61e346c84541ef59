import { ShapeError } from './shapes.js';

/** One page as it came, in terms that every list shares. */
export interface Page<T> {
  readonly objects: readonly T[];
  readonly total: number;
  /** Echoed by the service; absent where it echoes none. */
  readonly offset?: number | undefined;
}

const READINGS = 4;
/** More than any workspace or segment can hold; a service that counts further is not believed. */
const MAX_OBJECTS = 1_000_000;

/** The list moved while it was read, or the pages do not fit together. */
class UnevenPages extends Error {}

/**
 * Reads a list to its end. The offset advances by the objects received, whatever page size was asked for.
 *
 * A list that does not hold together (the total moved, an empty page before the end, more objects than the total, one
 * object twice) was changed while it was read and is read again from the start, at most three times.
 *
 * @param idOf what is unique within the list.
 * @returns every object once, in the service's order; `undefined` where the first page said that there is no such list.
 * @throws Error the list never held together: nothing that is not the whole list is ever returned.
 */
export async function readPages<T>(
  fetchPage: (offset: number) => Promise<Page<T> | undefined>,
  idOf: (object: T) => string,
): Promise<T[] | undefined> {
  for (let reading = 1; ; reading += 1) {
    try {
      // One reading after the other: a second one is made only because the first was uneven.
      return await readOnce(fetchPage, idOf);
    } catch (error) {
      if (!(error instanceof UnevenPages)) throw error;
      if (reading === READINGS) {
        throw new Error(`${error.message}, in each of ${READINGS} readings`, { cause: error });
      }
    }
  }
}

async function readOnce<T>(
  fetchPage: (offset: number) => Promise<Page<T> | undefined>,
  idOf: (object: T) => string,
): Promise<T[] | undefined> {
  const first = await fetchPage(0);
  if (first === undefined) return undefined;
  if (first.total > MAX_OBJECTS)
    throw new ShapeError('totalCount', 'a believable total', first.total);
  const objects = new Map<string, T>();
  let offset = 0;
  for (let page: Page<T> | undefined = first; ; page = await fetchPage(offset)) {
    // Page after page: only the one before tells where the next one starts.
    if (page === undefined) throw new UnevenPages('it was gone before its end');
    if ((page.offset ?? offset) !== offset) {
      throw new ShapeError('offset', `the ${offset} that was asked for`, page.offset);
    }
    if (page.total !== first.total) throw new UnevenPages('its total moved');
    for (const object of page.objects) objects.set(idOf(object), object);
    offset += page.objects.length;
    if (objects.size < offset) throw new UnevenPages('it holds one object twice');
    if (offset > first.total) throw new UnevenPages('it holds more objects than its total');
    if (offset === first.total) return [...objects.values()];
    if (page.objects.length === 0) throw new UnevenPages('a page before its end was empty');
  }
}
