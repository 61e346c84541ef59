import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startVitest } from 'vitest/node';

/*
 * Plants lies in surfaces of the program, one at a time and without a change of a file, and shows for each whether the law of
 * the verdict finds it; the law itself prints after how many histories. Fails if a lie is not found.
 *
 * Usage: `test/mutation/planted-lies.ts [NAME…]`.
 */
const ROOT = join(import.meta.dirname, '../..');

interface Lie {
  readonly name: string;
  /** Below src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const LIES: readonly Lie[] = [
  {
    name: 'page',
    file: 'daemon/page/status-page.ts',
    from: '<h1>${headline}</h1>',
    to: "<h1>${level === 'attention' ? 'In sync: 6 objects equal' : headline}</h1>",
  },
  {
    name: 'metrics',
    file: 'daemon/metrics/metrics.ts',
    from: 'Object.entries(counts)',
    to: 'Object.entries({ ...counts, live: counts.live + counts.held, held: 0 })',
  },
  {
    name: 'readyz',
    file: 'daemon/http/view-routes.ts',
    from: '      missing: missingFor(source),',
    to: "      missing: missingFor(source).filter((each) => !each.startsWith('key refused')),",
  },
  {
    name: 'exit code',
    file: 'model/verdict.ts',
    from: 'return allowHeld ? EXIT.ok : EXIT.held;',
    to: 'return EXIT.ok;',
  },
  {
    name: 'Markdown',
    file: 'report/markdown/plan.ts',
    from: 'trusted`${wholeText(report)}.`',
    to: "trusted`${wholeText(report.verdict.whole === 'held' ? { ...report, verdict: { ...report.verdict, whole: 'live' } } : report)}.`",
  },
  {
    name: 'verdict',
    file: 'model/verdict.ts',
    from: 'for (const each of plan.withheld) {',
    to: 'for (const each of [] as typeof plan.withheld) {',
  },
];

/** @throws Error if the source is no longer as the lie expects it. */
function planting({ name, file, from, to }: Lie) {
  const path = join(ROOT, 'src', file);
  if (readFileSync(path, 'utf8').split(from).length !== 2) {
    throw new Error(`cannot plant "${name}": ${file} does not have "${from}" once`);
  }
  return {
    name,
    enforce: 'pre' as const,
    transform: (code: string, id: string) => (id === path ? code.replace(from, () => to) : code),
  };
}

const wanted = process.argv.slice(2);
const lies = LIES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
for (const lie of lies) {
  const vitest = await startVitest(
    'test',
    [],
    { root: ROOT, config: false, watch: false, reporters: [], maxWorkers: 1 },
    {
      plugins: [planting(lie)],
      test: { include: ['test/property/verdict-law.slow.test.ts'], testNamePattern: /ours/ },
    },
  );
  const [module] = vitest.state.getTestModules();
  const isFound = module?.state() === 'failed';
  await vitest.close();
  process.stdout.write(`${lie.name}: ${isFound ? 'found' : 'NOT FOUND'}\n`);
  process.exitCode = isFound ? (process.exitCode ?? 0) : 1;
}
