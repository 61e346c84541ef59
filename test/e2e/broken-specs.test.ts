import { createServer, type Server } from 'node:http';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { listen } from '../support/loopback.js';

const FIXTURES = fileURLToPath(new URL('../fixtures/invalid', import.meta.url));
const names = readdirSync(FIXTURES).sort();
/** Beside each repository, not in it: what the command prints, to the last character. */
const EXPECTED = 'expected.txt';
const UPDATE = process.env['UPDATE_EXPECTED'] === '1';

describe('a broken config repository', () => {
  let server: Server;
  let origin: string;
  let requests = 0;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'flagkeel-broken-'));
    server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(500).end();
    });
    ({ url: origin } = await listen(server));
  });

  afterAll(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('comes in at least twelve kinds', () => {
    expect(names.length).toBeGreaterThanOrEqual(12);
  });

  it.each(names)('%s: is refused with all that is wrong, and nothing is sent', async (name) => {
    requests = 0;
    const copy = join(directory, name);
    cpSync(join(FIXTURES, name), copy, { recursive: true, verbatimSymlinks: true });
    const expectedFile = join(FIXTURES, name, EXPECTED);
    rmSync(join(copy, EXPECTED), { force: true });
    rmSync(join(copy, 'expected-codes.txt'), { force: true });

    const run = await flagkeel(['reconcile', '--url', origin, copy], {
      env: { FLAGKEEL_API_KEY: 'not-a-key' },
    });

    if (UPDATE || !existsSync(expectedFile)) writeFileSync(expectedFile, run.stdout);
    expect(run.stdout).toBe(readFileSync(expectedFile, 'utf8'));
    expect(run.stderr).toContain('flagkeel: the specs are invalid; nothing was sent\n');
    expect(run.code).toBe(3);
    expect(requests).toBe(0);
  });

  it('is told without colours where a CI job reads a pipe', async () => {
    const specs = join(FIXTURES, names[0] ?? '');

    const run = await flagkeel(['validate', specs], { env: { CI: 'true' } });

    expect(run.stdout).toContain('error[');
    expect(run.stdout).not.toContain('\u001b');
  });
});
