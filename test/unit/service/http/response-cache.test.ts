import { beforeEach, describe, expect, it } from 'vitest';
import { responseCache, type ResponseCache } from '../../../../src/service/http/response-cache.js';

let version: number;
/** Looks at the version that wait for their answer. */
let looks: (() => void)[];
let versionsAsked: number;
let reads: string[];

beforeEach(() => {
  version = 1;
  looks = [];
  versionsAsked = 0;
  reads = [];
});

function cacheOf({ answersAtOnce = true } = {}): ResponseCache {
  return responseCache({
    version: async () => {
      versionsAsked += 1;
      const seen = version;
      if (!answersAtOnce) await new Promise<void>((resolve) => looks.push(resolve));
      return seen;
    },
  });
}

async function ask(cache: ResponseCache, question: string, value = question): Promise<string> {
  return cache.recall(question, async () => {
    reads.push(question);
    return Promise.resolve(value);
  });
}

/** Lets what can go on go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a value that was read', () => {
  it('is read once, until anything changes', async () => {
    const cache = cacheOf();
    await cache.catchUp();

    const twice = [await ask(cache, 'a', 'first'), await ask(cache, 'a', 'second')];
    expect(twice).toEqual(['first', 'first']);
    await cache.catchUp();
    expect(await ask(cache, 'a', 'third')).toBe('first');
    version = 2;
    await cache.catchUp();
    expect(await ask(cache, 'a', 'after')).toBe('after');
    expect(reads).toEqual(['a', 'a']);
  });

  it('is not kept when a change came in while it was read', async () => {
    const cache = cacheOf();
    await cache.catchUp();
    await cache.recall('a', async () => {
      version = 2;
      await cache.catchUp();
      return 'of before';
    });

    expect(await ask(cache, 'a', 'of after')).toBe('of after');
  });

  it('is dropped before the cache grows without end', async () => {
    const cache = cacheOf();
    const huge = 'x'.repeat(20 * 1024 * 1024);

    for (const question of ['a', 'b', 'a']) await ask(cache, question, huge);

    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('takes no room any more once it is dropped', async () => {
    const cache = cacheOf();
    const half = 'x'.repeat(15 * 1024 * 1024);
    for (let round = 0; round < 3; round += 1) {
      version += 1;
      await cache.catchUp();
      await ask(cache, 'a', half);
    }

    for (const question of ['a', 'b', 'a']) await ask(cache, question, half);

    expect(reads).toEqual(['a', 'a', 'a', 'b']);
  });
});

describe('the look for changes', () => {
  it('is one for all who ask in one turn, after the last of them', async () => {
    const cache = cacheOf();
    await cache.catchUp();
    await ask(cache, 'a', 'before');
    versionsAsked = 0;

    const early = cache.catchUp();
    // What else the turn has to do, each of which may be the request of another.
    for (let left = 20; left > 0; left -= 1) await Promise.resolve();
    version = 2;
    await Promise.all([early, cache.catchUp(), cache.catchUp()]);

    expect(await ask(cache, 'a', 'after')).toBe('after');
    expect(versionsAsked).toBe(1);
  });

  it('that began before a change does not serve who asks after it', async () => {
    const cache = cacheOf({ answersAtOnce: false });
    const early = cache.catchUp();
    await settle();
    version = 2;

    const both = Promise.all([cache.catchUp(), cache.catchUp()]);
    await settle();
    looks.shift()?.();
    await early;
    await ask(cache, 'a', 'before');
    await settle();

    // One look for both.
    expect(looks).toHaveLength(1);
    looks.shift()?.();
    await both;
    expect(await ask(cache, 'a', 'after')).toBe('after');
  });
});
