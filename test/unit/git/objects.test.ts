import { describe, expect, it, onTestFinished } from 'vitest';
import { openGit } from '../../../src/git/git.js';
import { ObjectReader } from '../../../src/git/objects.js';
import { makeRepository, type TestRepository } from '../../support/git.js';

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
});
