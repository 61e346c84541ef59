import { expect, it } from 'vitest';
import { nameOf, allCells, playCells } from '../chaos/matrix/cell.js';
import { GROUNDS } from '../chaos/stores/grounds.js';
import { playStores, WAYS } from '../chaos/stores/play.js';

/** A few cells of the fault matrix, so that the rest of it can be played: `npm run test:faults` and `npm run test:stores`. */
const CELLS = [
  'create a definition, done, connection reset',
  'kill, before, 401',
  'patch a definition, done, truncated',
  'delete a flag, done, 500 with a page',
];

it('a run whose request goes wrong ends as it does without the fault', async () => {
  const cells = allCells().filter((cell) =>
    CELLS.includes(`${cell.kind.name}, ${cell.moment}, ${nameOf(cell)}`),
  );

  const results = await playCells(cells, { lanes: 1 });

  expect(results.map(({ violations }) => violations)).toEqual(CELLS.map(() => []));
});

it('a run whose service has a full or damaged store loses nothing, claims nothing, and is well by itself', async () => {
  const results = await playStores(GROUNDS[0], {
    lanes: 1,
    ways: WAYS.filter(({ name }) => name === 'change, a write' || name === 'change, for 3 s'),
    plays: (_, { fault, way }) =>
      (fault.name === 'disk full' && way.lastsMs === undefined) ||
      (fault.name === 'damaged' && way.lastsMs !== undefined),
  });

  expect(results.map(({ code, violations }) => [code, violations])).toEqual([
    [5, []],
    [0, []],
  ]);
});
