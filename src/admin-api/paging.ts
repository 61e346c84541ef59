import { ShapeError } from './decode.js';
import { DEFAULT_CONCURRENCY } from '../model/run.js';
import type { WireSegmentKeys } from './wire.js';

/** One page as it came, in terms that every list shares. */
export interface Page<T> {
  readonly objects: readonly T[];
  /** Objects in the whole list; absent where the answer does not prove how many there are. */
  readonly total?: number | undefined;
  /** Echoed by the service; absent where it echoes none. */
  readonly offset?: number | undefined;
  /** Characters of the answer. */
  readonly length: number;
}

const READINGS = 4;
/** More than any workspace or segment can hold; a service that goes further is not believed. */
const MAX_OBJECTS = 1_000_000;
/** So many objects are 20,000 pages of 50. A list that is cut into smaller pages must hold fewer. */
const MAX_PAGES = 25_000;
/** Characters of all pages: the definitions of 100,000 flags in an environment are some 200 million. */
const MAX_LENGTH = 512 * 1024 * 1024;

/** The list moved while it was read, or the pages do not fit together. */
class UnevenPages extends Error {}

/**
 * Reads a list to its end. The offset advances by the objects received, whatever page size was asked for.
 *
 * A list without a total ends where a page brings nothing new: a page that is short may be one that the service cuts
 * short. As nothing else would show that such a list moved, each page begins with the last object of the page before.
 *
 * A list that does not hold together (the total moved, an empty page before the end, more objects than the total, one
 * object twice) was changed while it was read and is read again from the start, at most three times.
 *
 * @param idOf what is unique within the list.
 * @returns every object once, in the service's order; `undefined` where the first page said that there is no such list.
 * @throws Error the list never held together, or does not end within a million objects, 25,000 pages and 512 Mi characters: nothing that is not the whole list is ever returned.
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
  const list = new ListSoFar(idOf);
  const ahead = new PagesAhead(fetchPage, first);
  for (let page: Page<T> | undefined = first; ; page = await ahead.page(list.nextOffset)) {
    // Page after page: only the ones before tell where the next one starts, and whether the list holds together.
    if (page === undefined) throw new UnevenPages('it was gone before its end');
    if (list.add(page)) return list.objects();
  }
}

/**
 * Pages of a list that said how long it is, several of which are under way at once: those that follow where each is as large as the
 * first. One more at each page that came, so that a list that does not hold together costs few requests. Once a page starts
 * elsewhere, what was asked for is of no use, and the rest is asked for one by one.
 */
class PagesAhead<T> {
  readonly #fetchPage: (offset: number) => Promise<Page<T> | undefined>;
  readonly #size: number;
  readonly #total: number;
  readonly #asked = new Map<number, Promise<Page<T> | undefined>>();
  #atOnce = 1;

  constructor(fetchPage: (offset: number) => Promise<Page<T> | undefined>, first: Page<T>) {
    this.#fetchPage = fetchPage;
    this.#size = first.objects.length;
    this.#total = first.total ?? 0;
  }

  /** @param offset to be asked in ascending order, each once. */
  async page(offset: number): Promise<Page<T> | undefined> {
    if (offset % this.#size !== 0 || offset >= this.#total) return this.#fetchPage(offset);
    this.#atOnce = Math.min(this.#atOnce + 1, DEFAULT_CONCURRENCY);
    const end = Math.min(this.#total, offset + this.#atOnce * this.#size);
    for (let at = offset; at < end; at += this.#size) this.#ask(at);
    const page = this.#asked.get(offset);
    this.#asked.delete(offset);
    return page;
  }

  #ask(offset: number): void {
    if (this.#asked.has(offset)) return;
    const page = this.#fetchPage(offset);
    // Nobody waits for it where a page before it fails, or the list turns out not to hold together.
    page.catch(() => undefined);
    this.#asked.set(offset, page);
  }
}

/** What was received of a list. */
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
    // A page of one object has no room for one that is repeated.
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

/** @throws Error the list goes on where no list of the service does. */
function assertEnds(objects: number, pages: number, length: number): void {
  if (objects <= MAX_OBJECTS && pages <= MAX_PAGES && length <= MAX_LENGTH) return;
  const counted = `${objects.toLocaleString('en-US')} objects in ${pages.toLocaleString('en-US')} pages`;
  const size = length > MAX_LENGTH ? ` of ${length.toLocaleString('en-US')} characters` : '';
  throw new Error(`the list does not end: ${counted}${size} came`);
}

type KeysPage = Pick<WireSegmentKeys, 'keys' | 'count'>;

/**
 * What `count` in a page of keys says of the whole segment.
 *
 * The contract does not tell whether `count` is the number of keys in the segment or in the page. A count above all that
 * was received up to the end of its page can only be that of the segment. Any other count proves nothing by itself, but
 * one service means the same by every count: what one answer proved is remembered for the others.
 */
export class KeysCount {
  #isOfSegment = false;
  #wasAsked = false;

  /**
   * @param offset where the page starts.
   * @returns the number of keys in the segment; `undefined` where nothing proves it. A count that contradicts its own
   * page is returned as it is, so that the list does not hold together.
   */
  provenTotal({ keys, count }: KeysPage, offset: number): number | undefined {
    const received = offset + keys.length;
    if (count > received && keys.length > 0) this.#isOfSegment = true;
    const isAnswer = this.#isOfSegment || count > received || count < keys.length;
    if (isAnswer || received === 0) return count;
    return undefined;
  }

  /**
   * The same, with a second request where it can tell what this service counts: asked for one key of several, it
   * counts one or all. It is made once, whatever it is answered.
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
   * @param page the first of the segment, of one key.
   * @returns the number of keys in the segment; `null` where nothing proves it, or the page contradicts its own count.
   */
  provenCount(page: KeysPage): number | null {
    const { length } = page.keys;
    if (page.count < length || (length === 0 && page.count > 0)) return null;
    return this.provenTotal(page, 0) ?? null;
  }
}
