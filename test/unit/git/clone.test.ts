import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runMaintenance } from '../../../src/git/clone.js';
import { commitLoose, makeDirectory } from '../../support/git.js';

describe('housekeeping', () => {
  let directory: string;
  const { signal } = new AbortController();

  beforeEach(() => {
    directory = join(makeDirectory(), 'state.git');
    execFileSync('git', ['init', '--quiet', '--bare', directory]);
  });

  function git(args: readonly string[]): string {
    return execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim();
  }

  const loose = (): number => Number(/\d+/.exec(git(['count-objects']))?.[0]);

  it('packs what lies about once it is much, and keeps what was rewritten', async () => {
    const kept = commitLoose(directory, 'refs/flagkeel/ws/1', 2_500);
    const rewritten = commitLoose(directory, 'refs/flagkeel/ws/2', 500);
    git(['update-ref', '-d', 'refs/flagkeel/ws/2']);
    expect(loose()).toBeGreaterThan(2_500);

    await runMaintenance(directory, signal);

    expect(loose()).toBeLessThan(100);
    expect(git(['count-objects', '-v'])).toMatch(/^packs: 1$/m);
    for (const commit of [kept, rewritten])
      expect(git(['show', `${commit}:files/7`])).toMatch(/ 7$/);
  });

  it('leaves alone what is little, and what is no repository', async () => {
    commitLoose(directory, 'refs/flagkeel/ws/1', 50);
    const before = loose();

    await runMaintenance(directory, signal);
    await runMaintenance(join(directory, 'nothing'), signal);

    expect(loose()).toBe(before);
  });
});
