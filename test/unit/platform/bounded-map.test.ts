import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/platform/bounded-map.js';

describe('a map of two entries', () => {
  it('drops the entry that was set longest ago, also when it was read since', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);

    expect(map.values()).toEqual([2, 3]);
  });

  it('makes an entry that is set again the youngest', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);

    expect([...map.entries()]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
    expect(map.size).toBe(2);
  });

  it('is empty once cleared', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.clear();
    expect([map.size, map.get('a')]).toEqual([0, undefined]);
  });
});
