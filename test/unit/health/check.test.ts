import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../docs/page.js';

const PROGRAM = join(PROJECT, 'src/health/check.ts');
const folder = mkdtempSync(join(tmpdir(), 'flagkeel-health-'));
let server: Server;
let status = 200;

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

interface Said {
  readonly code: unknown;
  readonly text: string;
}

/** Runs the check in a container, as it were, that was started with these words. */
async function check(...words: readonly string[]): Promise<Said> {
  const commandLine = join(folder, 'cmdline');
  writeFileSync(commandLine, ['tini', '--', 'node', '/app/dist/main.js', ...words, ''].join('\0'));
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', PROGRAM, commandLine], (error, stdout) => {
      resolve({ code: error?.code ?? 0, text: stdout });
    });
  });
}

describe('the health check of the container', { timeout: 30_000 }, () => {
  it('calls a daemon well that says so, and unwell one that does not', async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/healthz`;
    const watch = ['watch', '--listen', `0.0.0.0:${port}`];

    expect(await check(...watch)).toEqual({ code: 0, text: `${url} answered 200\n` });
    status = 503;
    expect(await check(...watch)).toEqual({ code: 1, text: `${url} answered 503\n` });
  });

  it('calls a service unwell that does not answer', async () => {
    const { code, text } = await check('service', '--port', '1');

    expect(code).toBe(1);
    expect(text).toBe('http://127.0.0.1:1/health did not answer\n');
  });

  it('calls a command well that cannot be asked', async () => {
    expect(await check('validate')).toEqual({ code: 0, text: '' });
  });
});
