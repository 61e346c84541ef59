import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { MAIN } from '../support/cli.js';
import { makeDirectory, makeRepository } from '../support/git.js';
import { HttpGitServer } from '../support/git-server.js';
import { projectText } from '../unit/docs/page.js';

const PAGE = projectText('docs/how-to.md');
const CONFIG = `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
`;

/** The page's block behind a heading that begins with these words. */
function block(heading: string, start: string): string {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const found = [...section.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, text = '']) =>
    text.trim(),
  );
  const text = found.find((each) => each.startsWith(start));
  if (text === undefined) throw new Error(`no block "${start}" below "${heading}"`);
  return text;
}

it('an application gets a branch of a server by the command of docs/how-to.md, and its next commit, and no clone is left', async () => {
  const [folder, repository] = [makeDirectory(), makeRepository()];
  const server = await HttpGitServer.start();
  onTestFinished(async () => server.stop());
  const flag = block('Force a flag in an end-to-end test', 'flag: ');
  const push = (text: string): void => {
    repository.commit('Change', { 'flagkeel.yaml': CONFIG, 'flags/new-checkout.yaml': text });
    repository.git('push', '--quiet', server.repository, 'HEAD:refs/heads/new-checkout');
  };
  push(flag);
  const command = block('Preview a branch', 'flagkeel service --repo').replace(
    /https:\S+/,
    server.url,
  );
  const words = `${command.replace(/ --port \d+/, '')} --port 0`.split(' ').slice(1);
  mkdirSync(join(folder, 'tmp'));
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd: folder,
    env: {
      ...{ PATH: process.env['PATH'], HOME: '/nonexistent', TMPDIR: join(folder, 'tmp') },
      ...{ FLAGKEEL_GIT_TOKEN: server.token, FLAGKEEL_SDK_KEY: 'preview' },
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => (output += text.toString()));
  }
  const originOf = (): string | undefined => /listening on (\S+)/.exec(output)?.[1];
  while (originOf() === undefined) {
    expect(child.exitCode, output).toBeNull();
    await wait(20);
  }
  const treatment = async (): Promise<unknown> => {
    const answer = await fetch(`${originOf() ?? ''}/ofrep/v1/evaluate/flags/new-checkout`, {
      method: 'POST',
      headers: { authorization: 'Bearer preview', 'content-type': 'application/json' },
      body: JSON.stringify({ context: { targetingKey: 'other' } }),
    });
    return ((await answer.json()) as { variant?: unknown }).variant;
  };

  expect(await treatment()).toBe('off');
  push(flag.replace("defaultRule: 'off'", "defaultRule: 'on'"));
  while ((await treatment()) !== 'on') await wait(100);

  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
  expect(output).not.toContain('warn');
});
