import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGit } from '../../../src/git/git.js';
import { ObjectReader } from '../../../src/git/objects.js';
import { makeDirectory, makeRepository, TestRepository } from '../../support/git.js';

function readerOf({ directory }: TestRepository): ObjectReader {
  const reader = new ObjectReader(openGit(directory));
  onTestFinished(async () => reader.close());
  return reader;
}

describe('the reader of objects', () => {
  it('says how large a content is without holding it, between others that it reads', async () => {
    const repository = makeRepository();
    const large = 'line\n'.repeat(400_000);
    repository.commit('one', { 'large.txt': large, 'small.txt': 'small\n', 'empty.txt': '' });
    const id = (path: string): string => repository.git('rev-parse', `HEAD:${path}`);
    const reader = readerOf(repository);

    const answers = await Promise.all([
      reader.read(id('small.txt')),
      reader.header(id('large.txt')),
      reader.read(id('empty.txt')),
      reader.header('HEAD:nowhere.txt'),
      reader.header(id('large.txt')),
      reader.read(id('large.txt')),
    ]);

    const header = { id: id('large.txt'), sizeBytes: large.length };
    expect(answers.map((each) => (Buffer.isBuffer(each) ? each.length : each))).toMatchObject([
      6,
      header,
      0,
      null,
      header,
      large.length,
    ]);
    expect((await reader.read(id('small.txt')))?.toString()).toBe('small\n');
  });

  it('gives what is held to the first who reads it, and holds no more than fits', async () => {
    const repository = makeRepository();
    repository.commit('one', { 'small.txt': 'small\n', 'other.txt': 'other\n' });
    const id = (path: string): string => repository.git('rev-parse', `HEAD:${path}`);
    const reader = readerOf(repository);
    const read = async (path: string) => (await reader.read(id(path)))?.toString();

    reader.hold(id('small.txt'), Buffer.from('held\n'));
    reader.hold(id('other.txt'), Buffer.alloc(65 * 1024 * 1024));

    expect(await read('small.txt')).toBe('held\n');
    expect(await read('small.txt')).toBe('small\n');
    expect(await read('other.txt')).toBe('other\n');
  });

  it('sees a name move, whoever moves it and however it is kept', async () => {
    const repository = makeRepository();
    const first = repository.commit('one', { 'a.txt': 'a\n' });
    const reader = readerOf(repository);
    const held = async (): Promise<string | undefined> =>
      (await reader.header('refs/flagkeel/x^{commit}'))?.id;
    expect(await held()).toBeUndefined();

    repository.git('update-ref', 'refs/flagkeel/x', first);
    expect(await held()).toBe(first);
    const second = repository.commit('two', { 'a.txt': 'b\n' });
    repository.git('update-ref', 'refs/flagkeel/x', second);
    repository.git('pack-refs', '--all');
    expect(await held()).toBe(second);
    repository.git('update-ref', '-d', 'refs/flagkeel/x');

    expect(await held()).toBeUndefined();
  });

  it('says how to clone where a partial clone lacks a content, and reads on', async () => {
    const source = makeRepository();
    source.commit('one', { 'a.txt': 'old\n' });
    source.commit('two', { 'a.txt': 'new\n' });
    source.git('config', 'uploadpack.allowFilter', 'true');
    const clone = new TestRepository(join(makeDirectory(), 'clone'));
    source.git('clone', '-q', '--filter=blob:none', `file://${source.directory}`, clone.directory);
    const id = (revision: string): string => clone.git('rev-parse', `${revision}:a.txt`);
    const reader = readerOf(clone);

    // Git from 2.45 on says that the object is missing; older ones end.
    const answer = await reader.read(id('HEAD~1')).catch((error: unknown) => String(error));

    if (answer !== null)
      expect(answer).toContain('missing in this clone (clone without --filter, or run git');
    expect((await reader.read(id('HEAD')))?.toString()).toBe('new\n');
  });
});
