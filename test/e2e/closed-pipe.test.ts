import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('a reader that leaves early ends a command without a stack trace', () => {
  const command = `"${process.execPath}" dist/main.js schema --help | true`;

  const { stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });

  expect(stderr).toBe('');
});

it.skipIf(process.platform !== 'linux')(
  'a full disk below its output ends no run: only the result that is lost is an error',
  () => {
    const run = (words: string) =>
      spawnSync('sh', ['-c', `"${process.execPath}" dist/main.js ${words}`], { encoding: 'utf8' });
    const plan = 'plan --embedded specs-example';

    expect(run(`${plan} 2> /dev/full`)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('planHash') as string,
    });
    const lost = run('validate specs-example > /dev/full');
    expect(lost).toMatchObject({ status: 1 });
    expect(lost.stderr).toMatch(/^flagkeel: cannot write the result: ENOSPC.*\n.*OUTPUT.*\n$/);
    expect(run('--help > /dev/full')).toMatchObject({ status: 1, stderr: '' });
  },
);

it.skipIf(process.platform !== 'linux')(
  'a full disk leaves no empty file that a second try of `init` takes for one that is there',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'flagkeel-full-'));
    onTestFinished(() => {
      rmSync(directory, { recursive: true });
    });
    const init = (before: string) => {
      // A limit for the size of files stands for the full disk.
      const words = `${before} exec "$0" dist/main.js init "$1"`;
      return spawnSync('sh', ['-c', words, process.execPath, directory], { encoding: 'utf8' });
    };

    expect(init(`trap '' XFSZ; ulimit -f 0;`)).toMatchObject({ status: 1 });

    expect(existsSync(join(directory, 'flagkeel.yaml'))).toBe(false);
    expect(init('')).toMatchObject({ status: 0 });
    expect(readFileSync(join(directory, 'flagkeel.yaml'), 'utf8')).toContain('workspace:');
  },
);
