import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { makeDirectory, makeRepository } from '../support/git.js';
import { startScripted } from '../support/http.js';

const FIXTURES = fileURLToPath(new URL('../fixtures/invalid', import.meta.url));
const names = readdirSync(FIXTURES).sort();
/** Beside each repository, not in it: what the command prints, to the last character. */
const EXPECTED = 'expected.txt';
const UPDATE = process.env['UPDATE_EXPECTED'] === '1';

it.each(names)(
  'a broken config repository is refused with all that is wrong, and nothing is sent: %s',
  async (name) => {
    const server = await startScripted(() => ({ status: 500 }));
    const copy = join(makeDirectory(), name);
    cpSync(join(FIXTURES, name), copy, { recursive: true, verbatimSymlinks: true });
    const expectedFile = join(FIXTURES, name, EXPECTED);
    rmSync(join(copy, EXPECTED), { force: true });

    const run = await flagkeel(['reconcile', '--url', server.url, copy], {
      env: { FLAGKEEL_API_KEY: 'not-a-key' },
    });
    await server.close();

    if (UPDATE || !existsSync(expectedFile)) writeFileSync(expectedFile, run.stdout);
    expect(run.stdout).toBe(readFileSync(expectedFile, 'utf8'));
    expect(run.stderr).toContain('flagkeel: the specs are invalid; nothing was sent\n');
    expect(run.code).toBe(3);
    expect(server.lines()).toEqual([]);
  },
);

it('the switches of the YAML library, which it asks for at each token, print nothing', async () => {
  const repository = makeRepository();
  repository.write({ 'flagkeel.yaml': 'workspace: Shop\nenvironments: { staging: {} }\n' });
  const env = { LOG_TOKENS: '1', LOG_STREAM: '1' };

  const { code, stdout } = await flagkeel(['validate', repository.directory], { env });

  expect([code, stdout]).toEqual([0, 'valid: 0 flags, 0 segments, 1 environment\n']);
});
