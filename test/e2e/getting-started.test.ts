import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { start } from '../support/cli.js';

const PROJECT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(PROJECT, 'docs/getting-started.md'), 'utf8');

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flaghoist-newcomer-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

/** Somebody whose git knows a name, and nothing else about this machine. */
function newcomer(): Record<string, string> {
  const [name, email] = ['Ana', 'ana@example.com'];
  return {
    HOME: home,
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

it('takes a newcomer through every command of docs/getting-started.md', async () => {
  const blocks = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const lines = blocks.join('').split('\n');
  // The clone is the one that the test runs in: it was installed and built before any test could run.
  const commands = lines.filter((line) => line !== 'npm ci');
  expect(lines.length - commands.length).toBe(1);

  // Every command must succeed; the trace of the shell tells which one did not.
  const run = start(['sh', '-eux', '-c', commands.join('\n')], '', {
    cwd: PROJECT,
    env: newcomer(),
  });
  const { code, stdout, stderr } = await run.ended;

  expect({ code, last: stderr.split('\n').slice(-12) }).toMatchObject({ code: 0 });
  const told = stdout.slice(stdout.lastIndexOf('In sync'));
  const story = [
    'Restore example-banner in production',
    'Kill example-banner in production',
    'Show the banner to everybody',
    'Show the banner to half',
    'Begin with one flag',
  ];
  const places = story.map((title) => told.indexOf(title));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}, 300_000);
