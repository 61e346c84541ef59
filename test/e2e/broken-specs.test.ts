import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { startScripted } from '../support/http.js';

const FIXTURES = fileURLToPath(new URL('../fixtures/invalid', import.meta.url));
const names = readdirSync(FIXTURES).sort();
/** Beside each repository, not in it: what the command prints, to the last character. */
const EXPECTED = 'expected.txt';
const UPDATE = process.env['UPDATE_EXPECTED'] === '1';

describe('a broken config repository', () => {
  it('comes in at least twelve kinds', () => {
    expect(names.length).toBeGreaterThanOrEqual(12);
  });

  it.each(names)('%s: is refused with all that is wrong, and nothing is sent', async (name) => {
    const server = await startScripted(() => ({ status: 500 }));
    const copy = join(makeDirectory(), name);
    cpSync(join(FIXTURES, name), copy, { recursive: true, verbatimSymlinks: true });
    const expectedFile = join(FIXTURES, name, EXPECTED);
    rmSync(join(copy, EXPECTED), { force: true });
    rmSync(join(copy, 'expected-codes.txt'), { force: true });

    const run = await flagkeel(['reconcile', '--url', server.url, copy], {
      env: { FLAGKEEL_API_KEY: 'not-a-key' },
    });
    await server.close();

    if (UPDATE || !existsSync(expectedFile)) writeFileSync(expectedFile, run.stdout);
    expect(run.stdout).toBe(readFileSync(expectedFile, 'utf8'));
    expect(run.stderr).toContain('flagkeel: the specs are invalid; nothing was sent\n');
    expect(run.code).toBe(3);
    expect(server.lines()).toEqual([]);
  });

  it('is told without colours where a CI job reads a pipe', async () => {
    const specs = join(FIXTURES, names[0] ?? '');

    const run = await flagkeel(['validate', specs], { env: { CI: 'true' } });

    expect(run.stdout).toContain('error[');
    expect(run.stdout).not.toContain('\u001b');
  });
});
