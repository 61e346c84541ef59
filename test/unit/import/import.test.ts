import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkTarget, writeTarget } from '../../../src/import/import.js';
import { makeDirectory, makeRepository } from '../../support/git.js';

const CONFIG = ['flagkeel.yaml', 'workspace: Default\n'] as const;

function everything(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}

describe('the directory of an import', () => {
  it('is created with the folders above it, and loses the specs that were there and nothing else', async () => {
    const directory = join(makeDirectory(), 'a', 'b');
    await writeTarget(directory, new Map([CONFIG]));
    mkdirSync(join(directory, 'flags/old'), { recursive: true });
    mkdirSync(join(directory, 'tests'));
    writeFileSync(join(directory, 'flags/old/b.yaml'), '');

    await writeTarget(directory, new Map([CONFIG, ['flags/a.yaml', 'flag: a\n']]));

    expect(everything(directory)).toEqual(['flagkeel.yaml', 'flags', 'flags/a.yaml', 'tests']);
  });

  it.each([
    ['written', 'flags', { [`flags/${'a'.repeat(300)}.yaml`]: '' }],
    // An empty folder counts for nothing, and no file can take its place.
    ['moved into it', 'flagkeel.yaml', { 'flags/a.yaml': 'flag: a\n' }],
  ])('keeps all that it had when one file cannot be %s', async (_, folder, files) => {
    const directory = makeDirectory();
    for (const name of new Set([folder, 'flags'])) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'flags/b.yaml'), 'flag: b\n');
    const before = everything(directory);

    const written = writeTarget(directory, new Map([CONFIG, ...Object.entries(files)]));

    await expect(written).rejects.toMatchObject({ code: 'OUTPUT' });
    expect(everything(directory)).toEqual(before);
    expect(readFileSync(join(directory, 'flags/b.yaml'), 'utf8')).toBe('flag: b\n');
  });

  // Elsewhere the system does not report each move.
  it.runIf(process.platform === 'linux')(
    'has a config only while it has all other files: it goes first and comes last',
    async () => {
      const directory = makeDirectory();
      const files = new Map([CONFIG, ['flags/a.yaml', ''], ['segments/b.yaml', '']]);
      await writeTarget(directory, files);
      const parts = ['flags', 'segments', 'flagkeel.yaml'];
      const moved: string[] = [];
      const ended = new Promise<void>((resolve) => {
        const watcher = watch(directory, (event, name) => {
          if (event === 'rename' && name !== null && parts.includes(name)) moved.push(name);
          if (name === 'end') resolve();
        });
        onTestFinished(() => {
          watcher.close();
        });
      });

      await writeTarget(directory, files);
      writeFileSync(join(directory, 'end'), '');
      await ended;

      expect(moved).toEqual([...parts.toReversed(), ...parts]);
    },
  );

  it('is not replaced where a submodule lies in it, whose files would be lost', async () => {
    const repository = makeRepository();
    const first = repository.commit('one', { 'flagkeel.yaml': 'workspace: Default\n' });
    repository.git('update-index', '--add', '--cacheinfo', `160000,${first},flags`);
    repository.git('commit', '-q', '-m', 'two');
    repository.git('clone', '-q', repository.directory, 'flags');

    await expect(checkTarget(repository.directory, true)).rejects.toThrow(/flags is a submodule/);
  });

  it('is refused in words where a file stands in its place', async () => {
    const path = join(makeDirectory(), 'file');
    writeFileSync(path, '');

    await expect(writeTarget(path, new Map([CONFIG]))).rejects.toThrow(/cannot import into/);
  });
});
