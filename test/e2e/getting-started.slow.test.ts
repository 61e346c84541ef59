import { join } from 'node:path';
import { expect, it } from 'vitest';
import { start } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { projectText } from '../unit/docs/page.js';

const PROJECT = join(import.meta.dirname, '../..');

/** Every command of a page, in its order. */
function commandsOf(page: string): string[] {
  const blocks = projectText(`docs/${page}`).matchAll(/^```sh\n([^]*?)^```$/gm);
  const texts = [...blocks].map(([, block = '']) => block);
  return texts.join('').split('\n');
}

/**
 * Runs the commands as somebody whose git knows a name, and nothing else about this machine. Every command must
 * succeed; the trace of the shell tells which one did not.
 *
 * @param place default: the home of that person.
 * @returns what they printed.
 */
async function runAll(commands: readonly string[], place?: string): Promise<string> {
  const home = makeDirectory();
  const env = {
    ...{ HOME: home, GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Forge', GIT_COMMITTER_EMAIL: 'forge@example.com' },
  };
  const shell = ['sh', '-eux', '-c', commands.join('\n')];
  const { code, stdout, stderr } = await start(shell, '', { cwd: place ?? home, env }).ended;
  expect({ code, last: stderr.split('\n').slice(-12) }).toMatchObject({ code: 0 });
  return stdout;
}

it('takes a newcomer through every command of docs/getting-started.md', async () => {
  const lines = commandsOf('getting-started.md');
  // The clone is the one that the test runs in: it was installed and built before any test could run.
  const commands = lines.filter((line) => line !== 'npm ci');
  expect(lines.length - commands.length).toBe(1);

  const stdout = await runAll(commands, PROJECT);

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

  const stdout = await runAll([program, ...commandsOf('how-to.md')]);

  // The ramp reaches as many as the page says, the revert undoes the last step, and nothing is stale.
  const told = ['reaches: 15 % off → on', 'Revert "Show the banner to half"', '0 flags of 1 stale'];
  expect(told.filter((text) => !stdout.includes(text))).toEqual([]);
}, 300_000);
