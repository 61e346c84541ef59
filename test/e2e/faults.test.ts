import { expect, it } from 'vitest';
import { faultyRun } from '../chaos/faults/faulty-run.js';
import { seedsOf } from '../chaos/faults/seeds.js';

it('every commit is applied within three runs, though one request in five goes wrong', async () => {
  const { seeds, told } = seedsOf(2);
  process.stdout.write(`${told}\n`);

  const reports = await Promise.all(seeds.map(faultyRun));

  const broken = reports.filter(({ violations }) => violations.length > 0);
  expect(broken.map(({ seed, violations }) => ({ seed, violations }))).toEqual([]);
});
