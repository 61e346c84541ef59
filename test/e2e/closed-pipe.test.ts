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
