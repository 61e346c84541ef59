import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startMaintenance } from '../../../src/compose/watch.js';
import { createLog } from '../../../src/platform/log.js';
import { aRun, aSource, DaemonInMemory } from '../../support/daemon-view.js';
import { commitLoose, makeDirectory } from '../../support/git.js';
import { aReport } from '../../support/plan-builder.js';

it('packs what an earlier process left, after the first run', async () => {
  const directory = join(makeDirectory(), 'state.git');
  execFileSync('git', ['init', '--quiet', '--bare', directory]);
  commitLoose(directory, 'refs/flagkeel/ws/1', 2_000);
  const loose = (): number =>
    Number(/\d+/.exec(execFileSync('git', ['count-objects'], { cwd: directory }).toString())?.[0]);
  const daemon = new DaemonInMemory(aSource());
  let logged = '';
  const stream = { write: (line: string) => (logged += line) };
  const log = createLog({ level: 'debug', format: 'json', stream });
  const house = startMaintenance(daemon, [directory, join(directory, 'nothing')], log);
  expect(loose()).toBeGreaterThan(1_000);

  daemon.end(aRun(aReport()));

  await expect.poll(loose, { timeout: 20_000 }).toBe(0);
  await house.close();
  expect(logged).toBe('');
});
