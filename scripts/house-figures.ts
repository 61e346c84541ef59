import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { figureRows } from './house-bounds.js';
import { sourceFigures } from './source-figures.js';

/*
 * Prints the figures of src/ beside their bounds. A directory measures another checkout, such as an older one;
 * `--check` exits with 1 where a bound is broken.
 */
const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const rows = figureRows(sourceFigures(join(positionals[0] ?? '.', 'src')));
const width = (cell: 'name' | 'value'): number => Math.max(...rows.map((row) => row[cell].length));
const [names, amounts] = [width('name'), width('value')];
for (const { name, value, bound, isBroken } of rows) {
  const line = `${name.padEnd(names)}  ${value.padEnd(amounts)}  ${bound}${isBroken ? '  broken' : ''}`;
  process.stdout.write(`${line.trimEnd()}\n`);
}
if (values.check && rows.some(({ isBroken }) => isBroken)) process.exitCode = 1;
