import { expect, it } from 'vitest';
import { faultyRun } from './faulty-run.js';
import { seedsOf } from './seeds.js';

/** Most of the time goes into waiting: many stories at once cost little more than one. */
const AT_ONCE = 16;

it('every story is told to its end, though one request in five goes wrong', async () => {
  const { seeds, told } = seedsOf(200);
  process.stdout.write(`${told}\n`);
  const waiting = [...seeds];
  const reports: Awaited<ReturnType<typeof faultyRun>>[] = [];
  const work = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      reports.push(await faultyRun(seed));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  const invocations = reports.flatMap((report) => report.invocations);
  const total = (of: (report: (typeof reports)[number]) => number): number =>
    reports.reduce((sum, report) => sum + of(report), 0);
  const took = [1, 2, 3].map((n) => `${n}: ${invocations.filter((each) => each === n).length}`);
  process.stdout.write(
    `${reports.length} stories, ${total(({ requests }) => requests)} requests, ` +
      `${total(({ faults }) => faults)} faults; invocations a commit: ${took.join(', ')}\n`,
  );
  const broken = reports.filter(({ violations }) => violations.length > 0);
  expect(broken.map(({ seed, violations }) => ({ seed, violations }))).toEqual([]);
  expect(reports).toHaveLength(seeds.length);
});
