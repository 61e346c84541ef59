import { planting, tested, type Planted } from './planting.js';

/*
 * Plants lies in surfaces of the program, one at a time, and shows for each whether the law of the verdict finds it; the law
 * itself prints after how many histories. Fails if a lie is not found.
 *
 * Usage: `test/mutation/planted-lies.ts [NAME…]`.
 */
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

const wanted = process.argv.slice(2);
for (const lie of LIES.filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
  const include = ['test/property/verdict-law.slow.test.ts'];
  const project = { plugins: [planting(lie)], test: { name: lie[0], include } };
  const [module] = await tested([project], 'ours');
  const isFound = module?.state() === 'failed';
  process.stdout.write(`${lie[0]}: ${isFound ? 'found' : 'NOT FOUND'}\n`);
  process.exitCode = isFound ? (process.exitCode ?? 0) : 1;
}
