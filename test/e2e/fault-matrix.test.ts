import { expect, it } from 'vitest';
import { nameOf } from '../chaos/matrix/cell.js';
import { allCells } from '../chaos/matrix/cells.js';
import { playCells } from '../chaos/matrix/play.js';

/** One of each sort; `npm run test:faults` plays them all. */
const SAMPLE = [
  ['list definitions', 'done', '200 that lies'],
  ['list keys', 'done', 'missing page'],
  ['list environments', 'done', '401'],
  ['create a flag', 'done', 'connection reset'],
  ['patch a definition', 'before', '429, Retry-After a day'],
  ['upload keys', 'done', 'truncated'],
  ['delete a segment', 'before', '503 with a page'],
  ['restore', 'done', 'SIGKILL'],
  ['create a definition', 'done', 'connection reset, SIGINT'],
  ['create a flag', 'done', '503 with a page, SIGTERM'],
  ['activate a segment', 'done', 'truncated, SIGTERM'],
  ['patch a definition', 'before', 'silence, SIGINT'],
] as const;

it('a fault at one request changes nothing about where the runs end', async () => {
  const cells = allCells().filter((cell) =>
    SAMPLE.some(
      ([kind, moment, name]) =>
        kind === cell.kind.name && moment === cell.moment && name === nameOf(cell),
    ),
  );

  const results = await playCells(cells, { lanes: 2 });

  expect(results).toHaveLength(SAMPLE.length);
  expect(results.flatMap(({ violations }) => violations)).toEqual([]);
});
