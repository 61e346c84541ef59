import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startVitest } from 'vitest/node';

/*
 * Plants lies in surfaces of the program, one at a time, and shows for each whether the law of the verdict finds it; the law
 * itself prints after how many histories. Fails if a lie is not found.
 *
 * Usage: `test/mutation/planted-lies.ts [NAME…]`.
 */
const ROOT = join(import.meta.dirname, '../..');

/** A wrong program: in a file below src, text that stands there once, and what it becomes. */
type Planted = readonly [name: string, file: string, from: string, to: string];

const LIES: readonly Planted[] = [
  [
    'page',
    'daemon/page/status-page.ts',
    '<h1>${headline}</h1>',
    "<h1>${level === 'attention' ? 'In sync: 6 objects equal' : headline}</h1>",
  ],
  [
    'metrics',
    'daemon/metrics/metrics.ts',
    'Object.entries(counts)',
    'Object.entries({ ...counts, live: counts.live + counts.held, held: 0 })',
  ],
  [
    'readyz',
    'daemon/http/view-routes.ts',
    '      missing: missingFor(source),',
    "      missing: missingFor(source).filter((each) => !each.startsWith('key refused')),",
  ],
  ['exit code', 'model/verdict.ts', 'return allowHeld ? EXIT.ok : EXIT.held;', 'return EXIT.ok;'],
  [
    'Markdown',
    'report/markdown/plan.ts',
    'trusted`${wholeText(report)}.`',
    "trusted`${wholeText(report.verdict.whole === 'held' ? { ...report, verdict: { ...report.verdict, whole: 'live' } } : report)}.`",
  ],
  [
    'verdict',
    'model/verdict.ts',
    'for (const each of plan.withheld) {',
    'for (const each of [] as typeof plan.withheld) {',
  ],
];

/** Changes a source as it is loaded; no file is changed. @throws Error if the source is not as the lie expects it. */
function planting([name, file, from, to]: Planted) {
  const path = join(ROOT, 'src', file);
  if (readFileSync(path, 'utf8').split(from).length !== 2) {
    throw new Error(`cannot plant "${name}": ${file} does not have "${from}" once`);
  }
  const transform = (code: string, id: string) =>
    id === path ? code.replace(from, () => to) : code;
  return { name, enforce: 'pre' as const, transform };
}

const wanted = process.argv.slice(2);
for (const lie of LIES.filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
  const include = ['test/property/verdict-law.slow.test.ts'];
  const vitest = await startVitest(
    'test',
    [],
    {
      root: ROOT,
      config: false,
      watch: false,
      reporters: [],
      maxWorkers: 1,
      testNamePattern: 'ours',
    },
    { test: { projects: [{ plugins: [planting(lie)], test: { name: lie[0], include } }] } },
  );
  const isFound = vitest.state.getTestModules()[0]?.state() === 'failed';
  await vitest.close();
  process.stdout.write(`${lie[0]}: ${isFound ? 'found' : 'NOT FOUND'}\n`);
  process.exitCode = isFound ? (process.exitCode ?? 0) : 1;
}
