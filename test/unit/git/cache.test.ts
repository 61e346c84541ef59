import { rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { commitTree, directoryTree } from '../../../src/git/trees.js';
import { GitCache } from '../../../src/git/cache.js';
import { localChanges, openSource } from '../../../src/git/spec-source.js';
import type { TreeEntry } from '../../../src/model/spec-tree.js';
import { checkoutOf, makeRepository, type TestRepository } from '../../support/git.js';

/** What an earlier run found: every file is as HEAD has it. */
async function rememberClean(repository: TestRepository, memory: GitCache): Promise<void> {
  const checkout = await checkoutOf(repository.directory, memory);
  const tree = await commitTree(checkout, checkout.head ?? '');
  const disk = await directoryTree(repository.directory);
  for (const { path, stamp = '' } of disk.list()) {
    const blobId = tree.list().find((each) => each.path === path)?.blobId ?? '';
    memory.disk.set(path, { stamp, blobId });
  }
}

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

describe('the memory of git', () => {
  it('sees a file that was edited since, though it has the same size, and a commit that moved on', async () => {
    const first = repository.commit('one', { 'flags/a.yaml': 'a: 1\n', 'flags/b.yaml': 'b: 1\n' });
    repository.commit('two', { 'flags/b.yaml': 'b: 2\n' });
    const memory = new GitCache();
    await rememberClean(repository, memory);
    const changes = async () => localChanges(await checkoutOf(repository.directory, memory));
    expect(await changes()).toEqual([]);

    repository.write({ 'flags/a.yaml': 'a: 2\n' });
    expect(await changes()).toEqual(['flags/a.yaml']);
    repository.git('update-ref', 'HEAD', first);
    expect(await changes()).toEqual(['flags/a.yaml', 'flags/b.yaml']);
  });

  it('remembers a file two seconds after its last change: a younger one may change with the same stamp', async () => {
    repository.commit('one', { 'flags/a.yaml': 'a: 1\n' });
    const { ctimeMs } = statSync(join(repository.directory, 'flags/a.yaml'));
    const memory = new GitCache();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const remembered = async (ageMs: number): Promise<number> => {
      vi.setSystemTime(ctimeMs + ageMs);
      await localChanges(await checkoutOf(repository.directory, memory));
      return memory.disk.size;
    };

    expect([await remembered(1_900), await remembered(2_100)]).toEqual([0, 1]);
  });

  it('reads no file twice that is compared with HEAD and then read', async () => {
    repository.commit('one', { 'flags/a.yaml': 'a: 1\n', 'flags/b.yaml': 'b: 1\n' });
    repository.write({ 'flags/b.yaml': 'b: 2\n' });
    await using source = await openSource(repository.directory, {
      workingTree: true,
      sameAsHead: true,
    });
    const id = repository.git('rev-parse', 'HEAD:flags/a.yaml');
    rmSync(join(repository.directory, '.git/objects', id.slice(0, 2), id.slice(2)));

    expect(String(await source.tree.read('flags/a.yaml'))).toBe('a: 1\n');
  });

  it('lists a commit by what it has otherwise as it is listed whole', async () => {
    const memory = new GitCache();
    const commits = [
      { 'sub/flags/a.yaml': 'a\n', 'sub/flags/b.yaml': 'b\n', 'sub/kills/x.yaml': 'x\n' },
      { 'sub/flags/a.yaml': 'another\n', 'flags/outside.yaml': 'out\n' },
      { 'sub/flags/0.yaml': 'first\n', 'sub/flags/z.yaml': 'last\n', 'sub/flags/b.yaml': null },
      { 'sub/flags/ä ö.yaml': 'quoted\n', 'sub/README.md': 'not read\n' },
      { 'sub/flags/a.yaml': null, 'sub/flags/a/deeper.yaml': 'in the place of a file\n' },
      { 'sub/flagkeel.yaml': '' },
    ].map((files, index) => repository.commit(`commit ${index}`, files));
    symlinkSync('z.yaml', join(repository.directory, 'sub/flags/link.yaml'));
    commits.push(repository.commit('a link'));
    repository.git('mv', 'sub/flags', 'sub/real');
    symlinkSync('real', join(repository.directory, 'sub/flags'));
    commits.push(repository.commit('a link in the place of a folder'));
    repository.git('mv', 'sub', 'real');
    symlinkSync('real', join(repository.directory, 'sub'));
    commits.push(repository.commit('a link in the place of the config directory'));
    repository.git('rm', '-q', 'sub');
    const submodule = `160000,${commits[0] ?? ''},sub/flags`;
    repository.git('update-index', '--add', '--cacheinfo', submodule);
    repository.git('commit', '-q', '-m', 'a submodule in the place of a folder');
    commits.push(repository.git('rev-parse', 'HEAD'));
    repository.git('rm', '-q', '--cached', 'sub/flags');
    repository.write({ 'sub/tests': 'a file in the place of a folder' });
    commits.push(repository.commit('a file in the place of a folder'));
    const directory = join(repository.directory, 'sub');
    const listed = async (commit: string, own: GitCache): Promise<readonly TreeEntry[]> =>
      (await commitTree(await checkoutOf(directory, own), commit)).list();

    for (const commit of [...commits, ...commits.toReversed()]) {
      // In sequence: each is compared with the one before.
      const entries = await listed(commit, memory);

      expect(entries).toEqual(await listed(commit, new GitCache()));
    }
  });

  it('gives the same entries of a listing where files are the same', async () => {
    const memory = new GitCache();
    const first = repository.commit('one', { 'flags/a.yaml': 'a\n', 'flags/b.yaml': 'b\n' });
    const [, old] = (
      await commitTree(await checkoutOf(repository.directory, memory), first)
    ).list();
    const second = repository.commit('two', { 'flags/a.yaml': 'other\n' });

    const [changed, same] = (
      await commitTree(await checkoutOf(repository.directory, memory), second)
    ).list();

    expect(changed).toMatchObject({ path: 'flags/a.yaml', sizeBytes: 6 });
    expect(same).toBe(old);
  });

  it('lists whole what cannot be compared with a commit that is gone', async () => {
    const memory = new GitCache();
    const other = makeRepository();
    const gone = other.commit('elsewhere', { 'flags/a.yaml': 'a\n' });
    await commitTree(await checkoutOf(other.directory, memory), gone);
    const head = repository.commit('here', { 'flags/b.yaml': 'b\n' });

    const tree = await commitTree(await checkoutOf(repository.directory, memory), head);

    expect(tree.list()).toMatchObject([{ path: 'flags/b.yaml' }]);
  });
});
