import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readPages } from '../../../src/admin-api/paging.js';
import { closeAfterEach, httpFixture } from '../../support/http-fixture.js';
import type { Reply, Script } from '../../support/http.js';

closeAfterEach();

/** What `count` could be, by the number of keys in the segment, in the page, and up to the end of the page. */
const MEANINGS = {
  'the segment': (all: number) => all,
  'the page': (_: number, inPage: number) => inPage,
  'all up to here': (_: number, inPage: number, offset: number) => offset + inPage,
};
type Meaning = keyof typeof MEANINGS;

const GRID = (Object.keys(MEANINGS) as Meaning[]).flatMap((meaning) =>
  [100, 13, 2, 1].flatMap((cutTo) =>
    [0, 1, 2, 13, 99, 100, 101, 250].map((size) => ({ meaning, cutTo, size })),
  ),
);

function keysTo(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `k-${size - index}`);
}

function pageOf(
  keys: readonly string[],
  url: string,
  { meaning, cutTo = 100 }: { meaning: Meaning; cutTo?: number },
): Reply {
  const query = new URL(url, 'http://x').searchParams;
  const offset = Number(query.get('offset'));
  const limit = Math.min(cutTo, Number(query.get('limit')));
  const page = keys.slice(offset, offset + limit).map((key) => ({ key }));
  const count = MEANINGS[meaning](keys.length, page.length, offset);
  return { status: 200, body: { keys: page, openChangeRequestId: null, count, offset, limit } };
}

const bySegment: (segments: Readonly<Record<string, number>>, meaning: Meaning) => Script =
  (segments, meaning) =>
  ({ url }) => {
    const name = /segments\/e-1\/([^/]+)\/keys/.exec(url)?.[1] ?? '';
    return pageOf(keysTo(segments[name] ?? 0), url, { meaning });
  };

describe('a list of keys', () => {
  it.each(GRID)(
    'is whole: $size keys in pages of $cutTo, where count is of $meaning',
    async ({ size, ...habits }) => {
      const { reader } = await httpFixture(({ url }) => pageOf(keysTo(size), url, habits));

      expect((await reader.listKeys('e-1', 'beta'))?.keys).toEqual(keysTo(size));
    },
  );

  it('costs one request for each page where count is above what was received', async () => {
    const { reader, server } = await httpFixture(bySegment({ large: 250 }, 'the segment'));

    await reader.listKeys('e-1', 'large');

    expect(server.seen).toHaveLength(3);
  });

  it('of one page costs one more request, once for all segments of a service', async () => {
    const sizes = { a: 60, b: 100, c: 1, d: 0 };
    const { reader, server } = await httpFixture(bySegment(sizes, 'the segment'));
    const requests: number[] = [];
    for (const name of Object.keys(sizes)) {
      const before = server.seen.length;
      await reader.listKeys('e-1', name);
      requests.push(server.seen.length - before);
    }

    expect(requests).toEqual([2, 1, 1, 1]);
  });

  it('is read again where a key before its end went meanwhile, though no total moves', async () => {
    const keys = keysTo(250);
    const { reader } = await httpFixture(({ url }, nth) => {
      if (nth === 2) keys.splice(7, 1);
      return pageOf(keys, url, { meaning: 'the page' });
    });

    const listed = await reader.listKeys('e-1', 'beta');

    expect(keys).toHaveLength(249);
    expect(listed?.keys).toEqual(keys);
  });

  it.each([
    ['starts every page at the first key', { keys: [{ key: 'a' }, { key: 'b' }], count: 2 }],
    ['counts keys and shows none', { keys: [], count: 5 }],
    ['counts fewer than it shows', { keys: [{ key: 'a' }, { key: 'b' }], count: 1 }],
  ])('is not guessed from a service that %s', async (_, body) => {
    const { reader } = await httpFixture(() => ({ status: 200, body }));

    await expect(reader.listKeys('e-1', 'beta')).rejects.toMatchObject({ code: 'UNREADABLE' });
    expect(await reader.countKeys('e-1', 'beta')).toBeNull();
  });
});

describe('a count of keys', () => {
  it.each(GRID)(
    'is right or not given: $size keys in pages of $cutTo, where count is of $meaning',
    async ({ size, ...habits }) => {
      const { reader, server } = await httpFixture(({ url }) => pageOf(keysTo(size), url, habits));

      const isProven = size === 0 || (size > 1 && habits.meaning === 'the segment');

      expect(await reader.countKeys('e-1', 'beta')).toBe(isProven ? size : null);
      expect(server.seen).toHaveLength(1);
    },
  );

  it('of one key is believed where the service was seen to count the segment', async () => {
    const { reader } = await httpFixture(bySegment({ one: 1, two: 2 }, 'the segment'));

    expect(await reader.countKeys('e-1', 'one')).toBeNull();
    expect(await reader.countKeys('e-1', 'two')).toBe(2);
    expect(await reader.countKeys('e-1', 'one')).toBe(1);
  });
});

describe('a list without end', () => {
  it.each([
    ['full pages, and no total', 100, undefined, '1,000,099 objects in 10,102 pages'],
    ['pages of one object, and a total', 1, 1_000_000, '25,001 objects in 25,001 pages'],
  ])('is given up: %s', async (_, size, total, counted) => {
    let last = -1;
    // Each page begins with the last object of the one before, as a service that keeps to the offset has it.
    const fetchPage = async (offset: number) => {
      const objects = Array.from({ length: size }, (__, index) => offset + index);
      last = offset;
      return Promise.resolve({ objects, total, length: 9 });
    };

    await expect(readPages(fetchPage, String)).rejects.toThrow(
      `the list does not end: ${counted} came`,
    );
    expect(last).toBeLessThanOrEqual(1_000_000);
  });

  it('is given up where its pages hold more than the memory of a run', async () => {
    const fetchPage = async (offset: number) => {
      const objects = [offset, offset + 1];
      return Promise.resolve({ objects, total: 1_000, length: 60 * 1024 * 1024 });
    };

    await expect(readPages(fetchPage, String)).rejects.toThrow(
      'the list does not end: 18 objects in 9 pages of 566,231,040 characters came',
    );
  });

  it('is given up after four readings where each page is the first one', async () => {
    let asked = 0;
    const fetchPage = async () => {
      asked += 1;
      return Promise.resolve({ objects: [1, 2, 3], total: 900_000, length: 9 });
    };

    await expect(readPages(fetchPage, String)).rejects.toThrow(
      'it holds one object twice, in each of 4 readings',
    );
    expect(asked).toBe(12);
  });
});

/** Pages that come when the test lets them, and how many were waited for at once. */
function heldPages(total: number, sizeAt: (offset: number) => number) {
  const waiting = new Map<number, () => void>();
  const rounds: number[][] = [];
  const fetchPage = async (offset: number) => {
    await new Promise<void>((resolve) => {
      waiting.set(offset, resolve);
    });
    const length = Math.min(sizeAt(offset), total - offset);
    const objects = Array.from({ length }, (_, index) => offset + index);
    return { objects, total, offset, length };
  };
  /** Lets all come that are under way, the last one first, until none is. */
  const serve = async (): Promise<number[][]> => {
    while (waiting.size > 0) {
      rounds.push([...waiting.keys()]);
      for (const [offset, resolve] of [...waiting].reverse()) {
        waiting.delete(offset);
        resolve();
      }
      await setImmediate();
    }
    return rounds;
  };
  return { fetchPage, serve };
}

describe('a list that says how long it is', () => {
  it('is asked for several pages at once, more of them the longer it holds together', async () => {
    const { fetchPage, serve } = heldPages(1_950, () => 100);
    const reading = readPages(fetchPage, String);
    const rounds = await serve();

    expect(await reading).toEqual(Array.from({ length: 1_950 }, (_, index) => index));
    expect(rounds.map(({ length }) => length)).toEqual([1, 2, 4, 8, 5]);
    expect(rounds.flat().toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index * 100),
    );
  });

  it('is whole where a page of it is cut short, and asked for page by page from there on', async () => {
    const { fetchPage, serve } = heldPages(20, (offset) => (offset === 4 ? 1 : 2));
    const reading = readPages(fetchPage, String);
    const rounds = await serve();

    expect(await reading).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(rounds.slice(-4)).toEqual([[13], [15], [17], [19]]);
  });

  it('fails as its first broken page does, whatever becomes of those behind', async () => {
    const fetchPage = async (offset: number) => {
      if (offset > 0) throw new Error(`no page at ${offset}`);
      return Promise.resolve({ objects: [0], total: 9, length: 9 });
    };

    await expect(readPages(fetchPage, String)).rejects.toThrow('no page at 1');
    await setImmediate();
  });
});
