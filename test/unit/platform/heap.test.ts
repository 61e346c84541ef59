import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { collectGarbage, MemoryKeeper } from '../../../src/platform/heap.js';

const MIB = 1024 * 1024;

it('what nobody holds any more is gone after a collection', async () => {
  const ref = new WeakRef({ much: new Array<number>(1_000).fill(1) });
  await setImmediate();

  collectGarbage();

  expect(ref.deref()).toBeUndefined();
  expect(globalThis).not.toHaveProperty('gc');
});

describe('memory of a process that goes on', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function keeperOf(mib: readonly number[]): { keeper: MemoryKeeper; collected: () => number } {
    let [at, count] = [0, 0];
    const keeper = new MemoryKeeper({
      held: () => (mib[Math.min(at++, mib.length - 1)] ?? 0) * MIB,
      collect: () => {
        count += 1;
      },
    });
    return { keeper, collected: () => count };
  }

  it('is given back once it has come to rest, in two collections', () => {
    const { keeper, collected } = keeperOf([500, 230]);
    keeper.noteWork();
    vi.advanceTimersByTime(4_000);
    keeper.noteWork();
    vi.advanceTimersByTime(4_000);
    expect(collected()).toBe(0);

    vi.advanceTimersByTime(60_000);

    expect(collected()).toBe(2);
  });

  it('is left alone where it holds little, or little more than after the last collections', () => {
    const small = keeperOf([199]);
    small.keeper.noteWork();
    vi.advanceTimersByTime(60_000);
    expect(small.collected()).toBe(0);

    // Held when it came to rest, after the collections, and at the two rests that follow.
    const large = keeperOf([500, 230, 270, 280]);
    for (const expected of [2, 2, 4]) {
      large.keeper.noteWork();
      vi.advanceTimersByTime(60_000);
      expect(large.collected()).toBe(expected);
    }
  });

  it('is not looked at any more once the process ends', () => {
    const { keeper, collected } = keeperOf([500]);
    keeper.noteWork();
    keeper.close();
    vi.advanceTimersByTime(60_000);
    expect(collected()).toBe(0);
  });
});
