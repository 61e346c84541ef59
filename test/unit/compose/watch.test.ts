import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startMaintenance } from '../../../src/compose/watch.js';
import { runMaintenance } from '../../../src/git/clone.js';
import { createLog } from '../../../src/platform/log.js';
import { aRun, aSource, DaemonInMemory } from '../../support/daemon-view.js';
import { commitLoose, makeDirectory } from '../../support/git.js';
import { aReport } from '../../support/plan-builder.js';

function bareRepository() {
  const directory = join(makeDirectory(), 'state.git');
  execFileSync('git', ['init', '--quiet', '--bare', directory]);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: directory, encoding: 'utf8' });
  return { directory, git, loose: () => Number(/\d+/.exec(git('count-objects'))?.[0]) };
}

it('packs what an earlier process left, after the first run, and keeps what was rewritten', async () => {
  const { directory, git, loose } = bareRepository();
  const kept = commitLoose(directory, 'refs/flagkeel/ws/1', 2_000);
  const rewritten = commitLoose(directory, 'refs/flagkeel/ws/2', 500);
  git('update-ref', '-d', 'refs/flagkeel/ws/2');
  const daemon = new DaemonInMemory(aSource());
  let logged = '';
  const stream = { write: (line: string) => (logged += line) };
  const log = createLog({ level: 'debug', format: 'json', stream });
  const house = startMaintenance(daemon, [directory, join(directory, 'nothing')], log);
  expect(loose()).toBeGreaterThan(2_000);

  daemon.end(aRun(aReport()));

  await expect.poll(loose, { timeout: 20_000 }).toBeLessThan(100);
  await house.close();
  expect(logged).toBe('');
  expect(git('count-objects', '-v')).toMatch(/^packs: 1$/m);
  for (const commit of [kept, rewritten]) expect(git('show', `${commit}:files/7`)).toMatch(/ 7$/m);
});

it('leaves alone what is little', async () => {
  const { directory, loose } = bareRepository();
  commitLoose(directory, 'refs/flagkeel/ws/1', 50);
  const before = loose();

  await runMaintenance(directory, new AbortController().signal);

  expect(loose()).toBe(before);
});
