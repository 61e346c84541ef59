import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { GetOnly } from '../../../src/admin-api/http/admin-client.js';
import { readPages } from '../../../src/admin-api/paging.js';
import { countKeys, listKeys } from '../../../src/admin-api/segments.js';
import { HttpAdminReader } from '../../../src/admin-api/reader.js';

/** What `count` could be, by the number of keys in the segment, in the page, and up to the end of the page. */
const MEANINGS = {
  'the segment': (all: number) => all,
  'the page': (_: number, inPage: number) => inPage,
  'all up to here': (_: number, inPage: number, offset: number) => offset + inPage,
};
type Meaning = keyof typeof MEANINGS;

const SIZES = [0, 1, 2, 13, 99, 100, 101, 250];
const GRID = (Object.keys(MEANINGS) as Meaning[]).flatMap((meaning) =>
  [100, 13, 2, 1].map((cutTo) => ({ meaning, cutTo })),
);

function keysTo(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `k-${size - index}`);
}

/** A reader of a service that is a function from a segment and a page to the body of the answer. */
function readerOf(bodyOf: (segment: string, offset: number, limit: number, nth: number) => object) {
  let requests = 0;
  const client: GetOnly = {
    origin: 'http://x',
    get: async ({ at, query, check }) => {
      requests += 1;
      const [offset, limit] = [Number(query?.['offset']), Number(query?.['limit'])];
      const json = check?.(bodyOf(at?.['segment'] ?? '', offset, limit, requests - 1));
      return Promise.resolve({ status: 200, json, length: 9 });
    },
  };
  return { reader: new HttpAdminReader(client), requests: () => requests };
}

function pageOf(
  keys: readonly string[],
  { meaning, cutTo = 100 }: { meaning: Meaning; cutTo?: number },
  offset: number,
  limit: number,
): object {
  const page = keys.slice(offset, offset + Math.min(cutTo, limit)).map((key) => ({ key }));
  return { keys: page, count: MEANINGS[meaning](keys.length, page.length, offset), offset };
}

describe('the keys of a segment', () => {
  it.each(GRID)(
    'are listed whole, and counted right or not at all, with one request: pages of $cutTo, count of $meaning',
    async (habits) => {
      for (const size of SIZES) {
        const open = () => readerOf((_, at, limit) => pageOf(keysTo(size), habits, at, limit));
        const listed = await listKeys(open().reader, 'e-1', 'beta');
        const counting = open();
        const count = await countKeys(counting.reader, 'e-1', 'beta');

        const isProven = size === 0 || (size > 1 && habits.meaning === 'the segment');
        expect([size, listed?.keys]).toEqual([size, keysTo(size)]);
        expect([size, count, counting.requests()]).toEqual([size, isProven ? size : null, 1]);
      }
    },
  );

  it('cost a request for each page, and one more, once, where the first page may be all', async () => {
    const sizes: Record<string, number> = { large: 250, a: 60, b: 100, c: 1, d: 0 };
    const costs = async (names: readonly string[], meaning: Meaning = 'the segment') => {
      const { reader, requests } = readerOf((name, offset, limit) =>
        pageOf(keysTo(sizes[name] ?? 0), { meaning }, offset, limit),
      );
      const after: number[] = [];
      for (const name of names) {
        await listKeys(reader, 'e-1', name);
        after.push(requests());
      }
      return after;
    };

    expect(await costs(['large'])).toEqual([3]);
    expect(await costs(['a', 'b', 'c', 'd'])).toEqual([2, 3, 4, 5]);
    // Nothing proves the meaning: page, question and an empty end, and no second question.
    expect(await costs(['a', 'a'], 'the page')).toEqual([3, 5]);
  });

  it('are read again where one before the end went meanwhile, though no total moves', async () => {
    const keys = keysTo(250);
    const { reader } = readerOf((_, offset, limit, nth) => {
      if (nth === 2) keys.splice(7, 1);
      return pageOf(keys, { meaning: 'the page' }, offset, limit);
    });

    const listed = await listKeys(reader, 'e-1', 'beta');

    expect(keys).toHaveLength(249);
    expect(listed?.keys).toEqual(keys);
  });

  it.each([
    ['starts every page at the first key', { keys: [{ key: 'a' }, { key: 'b' }], count: 2 }],
    ['counts keys and shows none', { keys: [], count: 5 }],
    ['counts fewer than it shows', { keys: [{ key: 'a' }, { key: 'b' }], count: 1 }],
  ])('are not guessed from a service that %s', async (_, body) => {
    const { reader } = readerOf(() => structuredClone(body));

    await expect(listKeys(reader, 'e-1', 'beta')).rejects.toMatchObject({ code: 'UNREADABLE' });
    expect(await countKeys(reader, 'e-1', 'beta')).toBeNull();
  });

  it('of one key are believed where the service was seen to count the segment', async () => {
    const { reader } = readerOf((name, offset, limit) =>
      pageOf(keysTo(name === 'two' ? 2 : 1), { meaning: 'the segment' }, offset, limit),
    );
    const count = async (name: string) => countKeys(reader, 'e-1', name);

    expect([await count('one'), await count('two'), await count('one')]).toEqual([null, 2, 1]);
  });
});

/** Each page begins with the last object of the one before, as a service that keeps to the offset has it. */
const endless = (size: number, total: number | undefined, length: number) => (offset: number) => ({
  objects: Array.from({ length: size }, (_, index) => offset + index),
  ...{ total, length },
});

it.each([
  [
    'full pages, and no total',
    endless(50_000, undefined, 9),
    'the list does not end: 1,049,980 objects in 21 pages came',
  ],
  [
    'pages of one object, and a total',
    endless(1, 1_000_000, 9),
    'the list does not end: 25,001 objects in 25,001 pages came',
  ],
  [
    'pages that hold more than the memory of a run',
    endless(2, 1_000, 60 * 1024 * 1024),
    'the list does not end: 18 objects in 9 pages of 566,231,040 characters came',
  ],
  [
    'each page the first one',
    () => ({ objects: [1, 2, 3], total: 900_000, length: 9 }),
    'it holds one object twice, in each of 4 readings',
  ],
  [
    'a page before its end empty, each time',
    (offset: number) => ({ objects: offset === 0 ? [1, 2, 3] : [], total: 900_000, length: 9 }),
    'a page before its end was empty, in each of 4 readings',
  ],
  [
    'a broken page behind the first',
    (offset: number) => {
      if (offset > 0) throw new Error(`no page at ${offset}`);
      return { objects: [0], total: 9, length: 9 };
    },
    'no page at 1',
  ],
])('a list without end is given up: %s', async (_, pageAt, message) => {
  const asked: number[] = [];
  const reading = readPages(async (offset) => {
    asked.push(offset);
    return Promise.resolve().then(() => pageAt(offset));
  }, String);

  await expect(reading).rejects.toThrow(message);
  // What was asked ahead and fails is an unhandled rejection nowhere.
  await setImmediate();
  if (message.includes('4 readings')) expect(asked).toHaveLength(12);
});

/** Reads a list whose pages come in rounds: all that are under way, the last one first. */
async function readInRounds(total: number, sizeAt: (offset: number) => number) {
  const waiting = new Map<number, () => void>();
  const rounds: number[][] = [];
  const reading = readPages(async (offset) => {
    await new Promise<void>((resolve) => {
      waiting.set(offset, resolve);
    });
    const length = Math.min(sizeAt(offset), total - offset);
    return { objects: Array.from({ length }, (_, index) => offset + index), total, offset, length };
  }, String);
  while (waiting.size > 0) {
    rounds.push([...waiting.keys()]);
    for (const [offset, resolve] of [...waiting].reverse()) {
      waiting.delete(offset);
      resolve();
    }
    await setImmediate();
  }
  expect(await reading).toEqual(Array.from({ length: total }, (_, index) => index));
  return rounds;
}

describe('a list that says how long it is', () => {
  it('is asked for several pages at once, more of them the longer it holds together', async () => {
    const rounds = await readInRounds(1_950, () => 100);

    expect(rounds.map(({ length }) => length)).toEqual([1, 2, 4, 8, 5]);
    expect(new Set(rounds.flat()).size).toBe(20);
  });

  it('is whole where a page of it is cut short, and asked for page by page from there on', async () => {
    const rounds = await readInRounds(20, (offset) => (offset === 4 ? 1 : 2));

    expect(rounds.slice(-4)).toEqual([[13], [15], [17], [19]]);
  });
});
