import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout, type Checkout } from '../../../src/git/checkout.js';
import { commitTree } from '../../../src/git/commit-tree.js';
import { directoryTree } from '../../../src/git/directory-tree.js';
import { GitMemory } from '../../../src/git/git-memory.js';
import { localChanges } from '../../../src/git/local-changes.js';
import { openStateHome, type StateHome } from '../../../src/git/state-home.js';
import type { State, StateEntry } from '../../../src/model/state.js';
import type { TreeEntry } from '../../../src/model/tree.js';
import { makeRepository, type TestRepository } from '../../support/git.js';

async function opened({ directory }: TestRepository, memory: GitMemory): Promise<Checkout> {
  const checkout = await openCheckout(directory, memory);
  onTestFinished(async () => checkout.close());
  return checkout;
}

async function homeOf(repository: TestRepository, memory: GitMemory): Promise<StateHome> {
  const checkout = await opened(repository, memory);
  const place = { workspaceId: 'ws', origin: 'http://localhost', directory: '' };
  const home = await openStateHome({ checkout, ...place });
  if (home === null) throw new Error('no home');
  return home;
}

/** What an earlier run found: every file is as HEAD has it. */
async function rememberClean(repository: TestRepository, memory: GitMemory): Promise<void> {
  const checkout = await opened(repository, memory);
  const tree = await commitTree(checkout, checkout.head ?? '');
  const disk = await directoryTree(repository.directory);
  for (const { path, stamp = '' } of disk.list()) {
    const blobId = tree.list().find((each) => each.path === path)?.blobId ?? '';
    memory.disk.set(path, { stamp, blobId });
  }
}

describe('the memory of git', () => {
  it('sees a file that was edited since, though it has the same size', async () => {
    const repository = makeRepository();
    repository.commit('one', { 'flags/a.yaml': 'a: 1\n', 'flags/b.yaml': 'b: 1\n' });
    const memory = new GitMemory();
    await rememberClean(repository, memory);
    expect(await localChanges(await opened(repository, memory))).toEqual([]);

    repository.write({ 'flags/a.yaml': 'a: 2\n' });

    expect(await localChanges(await opened(repository, memory))).toEqual(['flags/a.yaml']);
  });

  it('sees a commit that moved on under a file which stayed as it was', async () => {
    const repository = makeRepository();
    const first = repository.commit('one', { 'flags/a.yaml': 'a: 1\n' });
    repository.commit('two', { 'flags/a.yaml': 'a: 2\n' });
    const memory = new GitMemory();
    await rememberClean(repository, memory);

    repository.git('update-ref', 'HEAD', first);

    expect(await localChanges(await opened(repository, memory))).toEqual(['flags/a.yaml']);
  });

  it('lists a commit by what it has otherwise as it is listed whole', async () => {
    const repository = makeRepository();
    const memory = new GitMemory();
    const commits = [
      { 'sub/flags/a.yaml': 'a\n', 'sub/flags/b.yaml': 'b\n', 'sub/kills/x.yaml': 'x\n' },
      { 'sub/flags/a.yaml': 'another\n', 'flags/outside.yaml': 'out\n' },
      { 'sub/flags/0.yaml': 'first\n', 'sub/flags/z.yaml': 'last\n', 'sub/flags/b.yaml': null },
      { 'sub/flags/ä ö.yaml': 'quoted\n', 'sub/README.md': 'not read\n' },
      { 'sub/flags/a.yaml': null, 'sub/flags/a/deeper.yaml': 'in the place of a file\n' },
      { 'sub/flaghoist.yaml': '' },
    ].map((files, index) => repository.commit(`commit ${index}`, files));
    symlinkSync('z.yaml', join(repository.directory, 'sub/flags/link.yaml'));
    commits.push(repository.commit('a link'));
    const listed = async (commit: string, own: GitMemory): Promise<readonly TreeEntry[]> => {
      const checkout = await openCheckout(join(repository.directory, 'sub'), own);
      onTestFinished(async () => checkout.close());
      return (await commitTree(checkout, commit)).list();
    };

    for (const commit of [...commits, ...commits.toReversed()]) {
      // In sequence: each is compared with the one before.
      const entries = await listed(commit, memory);

      expect(entries).toEqual(await listed(commit, new GitMemory()));
    }
  });

  it('gives the same entries of a listing where files are the same', async () => {
    const repository = makeRepository();
    const memory = new GitMemory();
    const first = repository.commit('one', { 'flags/a.yaml': 'a\n', 'flags/b.yaml': 'b\n' });
    const [, old] = (await commitTree(await opened(repository, memory), first)).list();
    const second = repository.commit('two', { 'flags/a.yaml': 'other\n' });

    const [changed, same] = (await commitTree(await opened(repository, memory), second)).list();

    expect(changed).toMatchObject({ path: 'flags/a.yaml', sizeBytes: 6 });
    expect(same).toBe(old);
  });

  it('lists whole what cannot be compared with a commit that is gone', async () => {
    const memory = new GitMemory();
    const other = makeRepository();
    const gone = other.commit('elsewhere', { 'flags/a.yaml': 'a\n' });
    await commitTree(await opened(other, memory), gone);
    const repository = makeRepository();
    const head = repository.commit('here', { 'flags/b.yaml': 'b\n' });

    const tree = await commitTree(await opened(repository, memory), head);

    expect(tree.list()).toMatchObject([{ path: 'flags/b.yaml' }]);
  });

  it('knows the state that it wrote as one who reads it finds it', async () => {
    const repository = makeRepository();
    const memory = new GitMemory();
    const head = repository.commit('one');
    const home = await homeOf(repository, memory);
    await home.read();
    const odd = { ...entry('odd name', '1'), more: 'than an entry has', id: undefined };
    await home.write(stateOf(odd as unknown as StateEntry, entry('gone', '1')), {
      head,
      message: 'Apply',
    });
    await home.write(stateOf(odd as unknown as StateEntry, entry('b', '1')), {
      head,
      message: 'Apply',
    });

    const known = await (await homeOf(repository, memory)).read();

    expect(known).toStrictEqual(await (await homeOf(repository, new GitMemory())).read());
    expect([...known.state.keys()].toSorted()).toEqual(['flag/b', 'flag/odd name']);
  });

  it('gives the same entries of the state as long as their files are the same', async () => {
    const repository = makeRepository();
    const memory = new GitMemory();
    const head = repository.commit('one');
    const home = await homeOf(repository, memory);
    await home.read();
    await home.write(stateOf(entry('a', '1'), entry('b', '1')), { head, message: 'Apply' });
    const before = (await (await homeOf(repository, memory)).read()).state;

    const other = await homeOf(repository, new GitMemory());
    await other.read();
    await other.write(stateOf(entry('a', '2'), entry('b', '1')), { head, message: 'Apply' });

    const { state } = await (await homeOf(repository, memory)).read();
    expect(state).toEqual(stateOf(entry('a', '2'), entry('b', '1')));
    expect(state.get('flag/b')).toBe(before.get('flag/b'));
  });
});

function entry(name: string, id: string): StateEntry {
  return { kind: 'flag', name, id, environments: {} };
}

function stateOf(...entries: StateEntry[]): State {
  return new Map(entries.map((each) => [`${each.kind}/${each.name}`, each]));
}
