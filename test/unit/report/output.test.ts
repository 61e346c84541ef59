import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { FlagkeelError } from '../../../src/errors.js';
import { resolveColor, resolveWidth, writeResult } from '../../../src/report/output.js';
import { makeDirectory } from '../../support/git.js';

let folder = '';
beforeEach(() => {
  folder = makeDirectory();
});

describe('a result for standard output', () => {
  it('is given up quietly where the reader has gone', async () => {
    const child = spawn('sh', ['-c', 'exec 0<&-; echo closed; exec sleep 60'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    try {
      await once(child.stdout, 'data');

      await expect(writeResult('plan\n', { stdout: child.stdin })).resolves.toBeUndefined();
      await expect(writeResult('more\n', { stdout: child.stdin })).resolves.toBeUndefined();
    } finally {
      child.kill();
    }
  });

  it('that cannot be written for another reason is an error', async () => {
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
      },
    });

    await expect(writeResult('x', { stdout })).rejects.toThrow(
      new FlagkeelError('OUTPUT', 'cannot write the result: no space left on device'),
    );
  });
});

describe('a result for a file', () => {
  const stdout = new PassThrough();

  it('replaces the file, keeps its mode, and leaves nothing beside it', async () => {
    const file = join(folder, 'plan.json');
    writeFileSync(file, 'old and longer');
    chmodSync(file, 0o600);

    await writeResult('new', { file, stdout });

    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['plan.json']);
    expect(stdout.readableLength).toBe(0);
  });

  it('follows a link and leaves it a link, also where it leads nowhere yet', async () => {
    const [file, link] = [join(folder, 'plan.json'), join(folder, 'latest')];
    symlinkSync('plan.json', link);

    await writeResult('one', { file: link, stdout });
    await writeResult('two', { file: link, stdout });

    expect(readlinkSync(link)).toBe('plan.json');
    expect(readFileSync(file, 'utf8')).toBe('two');
  });

  it('goes through a pipe and does not put a file in its place', async () => {
    const file = join(folder, 'pipe');
    execFileSync('mkfifo', [file]);
    const reader = spawn('cat', [file], { stdio: ['ignore', 'pipe', 'ignore'] });

    const [, read] = await Promise.all([
      writeResult('plan\n', { file, stdout }),
      text(reader.stdout),
    ]);

    expect(read).toBe('plan\n');
    expect(statSync(file).isFIFO()).toBe(true);
  });

  it('that cannot be written is an error which names it', async () => {
    const file = join(folder, 'absent', 'plan.json');

    const failure = writeResult('x', { file, stdout });

    await expect(failure).rejects.toMatchObject({ code: 'OUTPUT', exitCode: 1 });
    await expect(failure).rejects.toThrow(`cannot write ${file}: ENOENT`);
  });
});

it.each<[string, boolean, NodeJS.ProcessEnv, boolean, boolean?]>([
  ['a terminal', true, {}, true],
  ['a file', false, {}, false],
  ['a terminal that is dumb', true, { TERM: 'dumb' }, false],
  ['--no-color, though forced', true, { FORCE_COLOR: '1' }, false, true],
  ['NO_COLOR, though forced', true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', true, { NO_COLOR: '' }, true],
  ['CI', false, { CI: 'true' }, false],
  ['a file, forced', false, { FORCE_COLOR: '1' }, true],
  ['a terminal, forced off', true, { FORCE_COLOR: '0' }, false],
])('colour with %s', (_, isTTY, env, expected, noColorFlag = false) => {
  expect(resolveColor({ noColorFlag, env, isTTY })).toBe(expected);
});

it.each([
  ['a terminal', {}, true, 132, 132],
  ['a terminal that does not tell its size', {}, true, 0, 100],
  ['a pipe', {}, false, undefined, Infinity],
  ['a pipe with COLUMNS', { COLUMNS: '72' }, false, undefined, 72],
  ['a terminal with COLUMNS', { COLUMNS: '72' }, true, 132, 72],
  ['a terminal with COLUMNS that is no width', { COLUMNS: '0' }, true, 132, 132],
])('the width of text of %s', (_, env, isTTY, columns, width) => {
  expect(resolveWidth({ env, isTTY, columns })).toBe(width);
});
