import { expect, it } from 'vitest';
import { BoundedMap } from '../../../src/platform/bounded-map.js';

it('a map of two entries drops the one that was set longest ago, also when it was read since', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.get('b');
  map.set('c', 4);

  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
