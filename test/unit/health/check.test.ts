import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import { startScripted } from '../../support/http.js';
import { PROJECT } from '../docs/page.js';

const PROGRAM = join(PROJECT, 'src/health/check.ts');

/** Runs the check in a container, as it were, that was started with these words. */
async function check(...words: readonly string[]) {
  const commandLine = join(makeDirectory(), 'cmdline');
  writeFileSync(commandLine, ['tini', '--', 'node', '/app/dist/main.js', ...words, ''].join('\0'));
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', PROGRAM, commandLine], (error, text) => {
      resolve({ code: error?.code ?? 0, text });
    });
  });
}

it('the health check of the container calls well who says so, and a command that cannot be asked', async () => {
  let status = 200;
  const server = await startScripted(() => ({ status }));
  onTestFinished(server.close);
  const { port } = new URL(server.url);
  const url = `http://127.0.0.1:${port}/healthz`;
  const watch = ['watch', '--listen', `0.0.0.0:${port}`];

  expect(await check(...watch)).toEqual({ code: 0, text: `${url} answered 200\n` });
  status = 503;
  expect(await check(...watch)).toEqual({ code: 1, text: `${url} answered 503\n` });
  expect(await check('service', '--port', '1')).toEqual({
    ...{ code: 1, text: 'http://127.0.0.1:1/health did not answer\n' },
  });
  expect(await check('validate')).toEqual({ code: 0, text: '' });
});
