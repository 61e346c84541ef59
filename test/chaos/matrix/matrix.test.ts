import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nameOf, allCells, playCells } from './cell.js';
import { matrixTables } from './page.js';

const PAGE = new URL('../../../docs/reliability.md', import.meta.url);
const [BEGIN, END] = ['<!-- the matrix begins -->', '<!-- the matrix ends -->'] as const;
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
  if (ONLY === '') {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
    const day = new Date().toISOString().slice(0, 10);
    const minutes = Math.round((Date.now() - begun) / 60_000);
    const tables = matrixTables({ results, commit: commit.trim(), day, minutes });
    const page = readFileSync(PAGE, 'utf8');
    const [head = ''] = page.split(BEGIN);
    const [, tail = ''] = page.split(END);
    writeFileSync(PAGE, `${head}${BEGIN}\n\n${tables}\n\n${END}${tail}`);
  }
  expect(wrong.map(({ cell, violations }) => ({ cell, violations }))).toEqual([]);
});
