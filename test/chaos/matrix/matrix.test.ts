import { expect, it } from 'vitest';
import { nameOf, allCells, playCells } from './cell.js';
import { matrixTables, writePart } from './page.js';

const LANES = Number(process.env['FLAGKEEL_MATRIX_LANES'] ?? 3);
/** Only cells whose kind of request or fault has this in its name. */
const ONLY = process.env['FLAGKEEL_MATRIX_ONLY'] ?? '';

it('ends as without the fault in every cell, and deletes nothing because of one', async () => {
  const cells = allCells().filter((cell) => `${cell.kind.name} ${nameOf(cell)}`.includes(ONLY));
  const begun = Date.now();
  let played = 0;
  const results = await playCells(cells, {
    lanes: LANES,
    tell: ({ cell, code, violations }) => {
      played += 1;
      const mark = violations.length === 0 ? '' : ` WRONG: ${violations.join('\n')}`;
      process.stdout.write(
        `${String(played)}/${String(cells.length)} ${cell.kind.name}, ${cell.moment}, ${nameOf(cell)}: ${String(code)}${mark}\n`,
      );
    },
  });

  const wrong = results.filter(({ violations }) => violations.length > 0);
  if (ONLY === '') writePart('matrix', begun, (origin) => matrixTables(results, origin));
  expect(wrong.map(({ cell, violations }) => ({ cell, violations }))).toEqual([]);
});
