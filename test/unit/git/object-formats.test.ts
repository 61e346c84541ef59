import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Clone } from '../../../src/git/clone.js';
import { remoteAccess } from '../../../src/git/remote-access.js';
import { makeDirectory, TestRepository } from '../../support/git.js';
import { flag, homeOf, makeClone, said, stateOf } from '../../support/state-homes.js';

/** A bare repository with names of 64 digits, and a commit if `commits`. */
function sha256Origin({ commits = true } = {}): string {
  const directory = makeDirectory();
  execFileSync('git', ['init', '--quiet', '--object-format=sha256', '-b', 'main', directory]);
  if (commits) new TestRepository(directory).commit('one', { 'flags/a.yaml': 'a' });
  const url = join(makeDirectory(), 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', directory, url]);
  return url;
}

function clone(url: string, branch: string | null): { clone: Clone; directory: string } {
  const directory = join(makeDirectory(), 'clone');
  const remote = remoteAccess({ url });
  return { clone: new Clone({ directory, remote, branch, path: '' }), directory };
}

it('a clone of a sha256 repository is one, whatever the branch', async () => {
  const url = sha256Origin();
  const head = new TestRepository(url).git('rev-parse', 'HEAD');
  for (const branch of ['main', null]) {
    expect((await clone(url, branch).clone.fetch()).commit).toBe(head);
  }
});

it('no clone is made of a repository without a commit, whose format git does not tell', async () => {
  const { clone: empty, directory } = clone(sha256Origin({ commits: false }), 'main');
  await expect(empty.fetch()).rejects.toThrow('it has no branch yet');
  expect(existsSync(directory)).toBe(false);
});

it('a folder for states takes the format of the specs, and shares the states with their origin', async () => {
  const directory = makeClone(sha256Origin());
  const home = { stateDir: join(makeDirectory(), 'state'), sharing: 'always' } as const;
  const store = await homeOf(directory, home);
  await store.write(stateOf(flag('a')), said('one'));

  const other = await homeOf(directory, { ...home, stateDir: join(makeDirectory(), 'other') });
  expect((await other.read()).state).toEqual(stateOf(flag('a')));
});

it('a folder for states of another format says which, and how to go on', async () => {
  const directory = makeClone(sha256Origin());
  const stateDir = makeDirectory();
  execFileSync('git', ['init', '--quiet', '--bare', stateDir]);

  const why = `cannot share the state: "${stateDir}" has sha1 objects, and the repository of the specs sha256 (name another folder in FLAGKEEL_STATE_DIR)`;
  await expect(homeOf(directory, { stateDir, sharing: 'always' })).rejects.toThrow(why);
  const kept = await homeOf(directory, { stateDir, sharing: 'auto' });
  expect(kept.notShared()?.why).toBe(why);
});
