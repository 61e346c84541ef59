import { ShapeError } from './decode.js';
import { DEFAULT_CONCURRENCY } from '../model/run.js';
import type { WireSegmentKeys } from './wire.js';

export interface Page<T> {
  readonly objects: readonly T[];
  /** Number of objects in the whole list, if the answer proves it. */
  readonly total?: number | undefined;
  /** Offset that the service returned, if it does. */
  readonly offset?: number | undefined;
  /** Characters of the answer. */
  readonly length: number;
}

/** `undefined` denies the list. */
type FetchPage<T> = (offset: number) => Promise<Page<T> | undefined>;

const READINGS = 4;
/** More objects than any workspace or segment can hold; a service that goes on has a fault. */
const MAX_OBJECTS = 1_000_000;
/** A million objects are 20,000 pages of 50. A list with smaller pages must hold fewer objects. */
const MAX_PAGES = 25_000;
/** Characters of all pages: the definitions of 100,000 flags in an environment are some 200 million. */
const MAX_LENGTH = 512 * 1024 * 1024;

class UnevenPages extends Error {}

/**
 * The offset advances by the objects received, whatever page size was asked for.
 *
 * A list without a total ends with a page that brings nothing new, because the service may cut any page short. As
 * nothing else shows that such a list moved, each page starts with the last object of the page before.
 *
 * A list that does not hold together (the total moved, an empty page before the end, more objects than the total, one
 * object twice) was changed while it was read and is read again from the start, at most three times.
 *
 * @returns every object once, in the service's order; `undefined` if the first page denied the list.
 * @throws Error the list was never consistent, or has no end within a million objects, 25,000 pages and 512 Mi
 * characters. A partial list is never returned.
 */
export async function readPages<T>(
  fetchPage: FetchPage<T>,
  idOf: (object: T) => string,
): Promise<T[] | undefined> {
  for (let reading = 1; ; reading += 1) {
    try {
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
  fetchPage: FetchPage<T>,
  idOf: (object: T) => string,
): Promise<T[] | undefined> {
  const first = await fetchPage(0);
  if (first === undefined) return undefined;
  const list = new ListSoFar(idOf);
  const fetchNext = readAhead(fetchPage, first);
  for (let page: Page<T> | undefined = first; ; page = await fetchNext(list.nextOffset)) {
    if (page === undefined) throw new UnevenPages('it was gone before its end');
    if (list.add(page)) return list.objects();
  }
}

/**
 * Reads several pages at once, assuming that all are as large as the first. Each page that arrives allows one more, so
 * that an inconsistent list costs few requests. If a page starts elsewhere, the rest is read page by page.
 *
 * @returns reads the page at an offset; the offsets must ascend.
 */
function readAhead<T>(fetchPage: FetchPage<T>, first: Page<T>): FetchPage<T> {
  const size = first.objects.length;
  const total = first.total ?? 0;
  const asked = new Map<number, ReturnType<FetchPage<T>>>();
  let atOnce = 1;
  return async (offset) => {
    if (offset % size !== 0 || offset >= total) return fetchPage(offset);
    atOnce = Math.min(atOnce + 1, DEFAULT_CONCURRENCY);
    const end = Math.min(total, offset + atOnce * size);
    for (let at = offset; at < end; at += size) {
      if (asked.has(at)) continue;
      const page = fetchPage(at);
      // Avoids an unhandled rejection if an earlier page fails, or the list is inconsistent.
      page.catch(() => undefined);
      asked.set(at, page);
    }
    const page = asked.get(offset);
    asked.delete(offset);
    return page;
  };
}

class ListSoFar<T> {
  /** Where the next page starts: at the last object received, or right after it. */
  nextOffset = 0;
  readonly #idOf: (object: T) => string;
  readonly #byId = new Map<string, T>();
  #pages = 0;
  #received = 0;
  #length = 0;
  #lastId = '';
  #total: number | undefined;

  constructor(idOf: (object: T) => string) {
    this.#idOf = idOf;
  }

  objects(): T[] {
    return [...this.#byId.values()];
  }

  /** @returns whether the list is whole now. */
  add(page: Page<T>): boolean {
    if ((page.offset ?? this.nextOffset) !== this.nextOffset) {
      throw new ShapeError('offset', `the ${this.nextOffset} that was asked for`, page.offset);
    }
    this.#noteTotal(page.total);
    const added = this.#withoutRepeated(page.objects);
    for (const object of added) {
      this.#lastId = this.#idOf(object);
      this.#byId.set(this.#lastId, object);
    }
    this.#received += added.length;
    if (this.#byId.size < this.#received) throw new UnevenPages('it holds one object twice');
    this.#pages += 1;
    this.#length += page.length;
    assertEnds(this.#received, this.#pages, this.#length);
    // A page of one object has no room for a repeated one.
    const repeats = this.#total === undefined && page.objects.length > 1;
    this.nextOffset = repeats ? this.#received - 1 : this.#received;
    return this.#isWhole(added.length);
  }

  #noteTotal(total: number | undefined): void {
    if (total === undefined) return;
    if (total > MAX_OBJECTS) throw new ShapeError('totalCount', 'a believable total', total);
    if (this.#total !== undefined && total !== this.#total)
      throw new UnevenPages('its total moved');
    this.#total = total;
  }

  #withoutRepeated(objects: readonly T[]): readonly T[] {
    if (this.nextOffset === this.#received) return objects;
    const [repeated] = objects;
    if (repeated === undefined || this.#idOf(repeated) !== this.#lastId)
      throw new UnevenPages('it moved between two pages');
    return objects.slice(1);
  }

  #isWhole(added: number): boolean {
    if (this.#total === undefined) return added === 0;
    if (this.#received > this.#total) throw new UnevenPages('it holds more objects than its total');
    if (this.#received === this.#total) return true;
    if (added === 0) throw new UnevenPages('a page before its end was empty');
    return false;
  }
}

function assertEnds(objects: number, pages: number, length: number): void {
  if (objects <= MAX_OBJECTS && pages <= MAX_PAGES && length <= MAX_LENGTH) return;
  const counted = `${objects.toLocaleString('en-US')} objects in ${pages.toLocaleString('en-US')} pages`;
  const size = length > MAX_LENGTH ? ` of ${length.toLocaleString('en-US')} characters` : '';
  throw new Error(`the list does not end: ${counted}${size} came`);
}

type KeysPage = Pick<WireSegmentKeys, 'keys' | 'count'>;

/**
 * The contract leaves open whether `count` is the number of keys in the segment or in the page. A count above the number
 * of keys up to the end of its page must be that of the segment. Any other proves nothing by itself, but a service uses
 * one meaning for all, so that the proof from one answer is kept for the others.
 */
export class KeysCount {
  #isOfSegment = false;
  #wasAsked = false;

  /** `undefined` if nothing proves it. A count that contradicts its page is returned, to make the list inconsistent. */
  provenTotal({ keys, count }: KeysPage, offset: number): number | undefined {
    const received = offset + keys.length;
    if (count > received && keys.length > 0) this.#isOfSegment = true;
    const isAnswer = this.#isOfSegment || count > received || count < keys.length;
    if (isAnswer || received === 0) return count;
    return undefined;
  }

  /**
   * Like `provenTotal`, but may send one more request to learn the meaning: asked for one key of several, the service
   * counts one or all. The request is sent at most once, whatever the answer.
   */
  async askedTotal(
    page: KeysPage,
    offset: number,
    askForOne: () => Promise<KeysPage | undefined>,
  ): Promise<number | undefined> {
    const total = this.provenTotal(page, offset);
    if (total !== undefined || this.#wasAsked || page.keys.length < 2) return total;
    this.#wasAsked = true;
    const one = await askForOne();
    if (one) this.provenTotal(one, 0);
    return this.provenTotal(page, offset);
  }

  /**
   * For the first page of the segment, of one key; `null` if nothing proves the number, or the page contradicts itself.
   */
  provenCount(page: KeysPage): number | null {
    const { length } = page.keys;
    if (page.count < length || (length === 0 && page.count > 0)) return null;
    return this.provenTotal(page, 0) ?? null;
  }
}
