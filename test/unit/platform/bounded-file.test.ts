import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readBounded } from '../../../src/platform/bounded-file.js';
import { makeDirectory } from '../../support/git.js';

it('reads a pipe to its end, and waits for a writer no longer than until it is interrupted', async () => {
  const pipe = join(makeDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [read] = await Promise.all([readBounded(pipe, 'read'), writeFile(pipe, 'a plan')]);
  expect(String(read)).toBe('a plan');

  const interrupt = new AbortController();
  const reading = readBounded(pipe, 'read', interrupt.signal);
  interrupt.abort();
  await expect(reading).rejects.toMatchObject({ code: 'USAGE' });
});

it('gives up a device that has no end, and a folder', async () => {
  await expect(readBounded('/dev/zero', 'read')).rejects.toThrow('more than 64 MiB');
  await expect(readBounded('/', 'read')).rejects.toThrow('EISDIR');
});
