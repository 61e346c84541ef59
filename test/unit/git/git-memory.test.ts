import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout, type Checkout } from '../../../src/git/checkout.js';
import { commitTree } from '../../../src/git/commit-tree.js';
import { directoryTree } from '../../../src/git/directory-tree.js';
import { GitMemory } from '../../../src/git/git-memory.js';
import { localChanges } from '../../../src/git/local-changes.js';
import { openStateHome, type StateHome } from '../../../src/git/state-home.js';
import type { State, StateEntry } from '../../../src/model/state.js';
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
