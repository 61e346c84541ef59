import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it.each(['--help', 'schema --help'])(
  'a reader that leaves early ends a command without a stack trace: %s',
  (words) => {
    const command = `"${process.execPath}" dist/main.js ${words} | true`;

    const { stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });

    expect(stderr).toBe('');
  },
);

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
    const lost = run(`${plan} --quiet > /dev/full`);
    expect(lost).toMatchObject({ status: 1 });
    expect(lost.stderr).toMatch(/^flagkeel: cannot write the result: ENOSPC.*\n.*OUTPUT.*\n$/);
    expect(run('--help > /dev/full')).toMatchObject({ status: 1, stderr: '' });
  },
  60_000,
);
