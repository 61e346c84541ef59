import { expect, it } from 'vitest';
import { faultyRun } from './faulty-run.js';

/** Most of the time goes into waiting: many stories at once cost little more than one. */
const AT_ONCE = 16;

it('every story is told to its end, though one request in five goes wrong', async () => {
  const { seeds, told } = seedsOf();
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

/**
 * Seeds of the stories: as many as `FLAGKEEL_FAULT_RUNS` says, from `FLAGKEEL_FAULT_SEED` on, which repeats a run; without
 * it they are new each time.
 */
function seedsOf(): { seeds: readonly number[]; told: string } {
  const count = Number(process.env['FLAGKEEL_FAULT_RUNS'] ?? 200);
  const given = process.env['FLAGKEEL_FAULT_SEED'];
  const first = given === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(given);
  return {
    seeds: Array.from({ length: count }, (_, i) => first + i),
    told: `FLAGKEEL_FAULT_SEED=${String(first)}, ${String(count)} stories`,
  };
}
