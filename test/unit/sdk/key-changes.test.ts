import { expect, it } from 'vitest';
import { keysChangedSince } from '../../../src/sdk/environment.js';
import { KEY_CHANGES_KEPT } from '../../../src/service/store/keys.js';

/** `a` was added at 101, taken away at 102 and added again at 103; `b` was taken away at 102. */
const CHANGES = [
  { number: 101, added: ['a'], removed: [] },
  { number: 102, added: [], removed: ['a', 'b'] },
  { number: 103, added: ['a'], removed: [] },
];
const ALL = { added: ['a', 'c'], removed: ['b'] };

it.each([
  ['nothing yet', -1, 3, { added: ['a', 'c'], removed: [] }],
  ['the number before all changes', 100, 3, { added: ['a'], removed: ['b'] }],
  ['the first change', 101, 3, { added: ['a'], removed: ['b'] }],
  ['all but the last', 102, 3, { added: ['a'], removed: [] }],
  ['all', 103, 3, { added: [], removed: [] }],
  ['a number of another life of the service', 99, 3, ALL],
  ['a number that is not given yet', 104, 3, ALL],
  ['less than the oldest change that is kept', 100, KEY_CHANGES_KEPT, ALL],
  ['the oldest change that is kept', 101, KEY_CHANGES_KEPT, { added: ['a'], removed: ['b'] }],
])('an application that knows %s gets what it missed', async (_, since, count, expected) => {
  const changes = await keysChangedSince(since, {
    ...{ first: 100, oldest: 101, till: 103, count },
    after: async (number) => Promise.resolve(CHANGES.filter((each) => each.number > number)),
    keys: async () => Promise.resolve(['a', 'c']),
  });

  expect(changes).toEqual({ ...expected, till: 103 });
});
