import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { start } from '../support/cli.js';

const PROJECT = join(import.meta.dirname, '../..');

/** Every command of a page, in its order. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(PROJECT, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.join('').split('\n');
}

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flagkeel-newcomer-'));
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
    GIT_COMMITTER_NAME: 'Forge',
    GIT_COMMITTER_EMAIL: 'forge@example.com',
  };
}

it('takes a newcomer through every command of docs/getting-started.md', async () => {
  const lines = commandsOf('getting-started.md');
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

it('gets through every recipe of docs/how-to.md', async () => {
  const program = `flagkeel() { node "${PROJECT}/dist/main.js" "$@"; }`;
  const script = [program, ...commandsOf('how-to.md')].join('\n');

  const run = start(['sh', '-eux', '-c', script], '', { cwd: home, env: newcomer() });
  const { code, stdout, stderr } = await run.ended;

  expect({ code, last: stderr.split('\n').slice(-12) }).toMatchObject({ code: 0 });
  // The ramp reaches as many as the page says, the revert undoes the last step, and nothing is stale.
  const told = ['reaches: 15 % off → on', 'Revert "Show the banner to half"', '0 flags of 1 stale'];
  expect(told.filter((text) => !stdout.includes(text))).toEqual([]);
}, 300_000);
