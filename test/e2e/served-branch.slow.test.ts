import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.js';
import { makeDirectory, makeRepository, TestRepository } from '../support/git.js';
import { HttpGitServer, makeServedRepository } from '../support/git-server.js';
import { projectText } from '../unit/docs/page.js';

/** Applications against a branch, by the commands of docs/how-to.md. */
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

const forced = (change: (text: string) => string = (text) => text): Record<string, string> => ({
  'flagkeel.yaml': CONFIG,
  'flags/new-checkout.yaml': change(block('Force a flag in an end-to-end test', 'flag: ')),
});

const ramped = (): Record<string, string> =>
  forced((text) => text.replace("defaultRule: 'off'", "defaultRule: 'on'"));

let folder: string;
let repository: TestRepository;
let served: Served | undefined;
beforeEach(() => {
  folder = makeDirectory();
  mkdirSync(join(folder, 'tmp'));
  repository = makeRepository();
  repository.write(forced());
});
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

/** The built program as a command of the page starts it, on a free port. */
class Served {
  readonly #child: ChildProcess;
  readonly #key: string;
  #output = '';

  constructor(command: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
    const onPort = `${command.replace(/ --port \d+/, '')} --port 0`;
    // `exec`: a signal goes to the program, and not to a shell.
    const line = onPort.replace('flagkeel ', `exec ${process.execPath} ${MAIN} `);
    this.#key = /FLAGKEEL_SDK_KEY=(\S+)/.exec(command)?.[1] ?? env['FLAGKEEL_SDK_KEY'] ?? '';
    this.#child = spawn('sh', ['-c', line.replace(/^(\w+=\S+) exec/, 'export $1; exec')], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', TMPDIR: join(folder, 'tmp'), ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.#output += text.toString();
      });
    }
  }

  get output(): string {
    return this.#output;
  }

  async origin(): Promise<string> {
    for (;;) {
      const found = /listening on (\S+)/.exec(this.#output)?.[1];
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null) throw new Error(this.#output);
      await wait(20);
    }
  }

  async treatment(key: string): Promise<unknown> {
    const path = '/ofrep/v1/evaluate/flags/new-checkout';
    const answer = await fetch(`${await this.origin()}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ context: { targetingKey: key } }),
    });
    return ((await answer.json()) as { variant?: unknown }).variant;
  }

  async flags(): Promise<string[]> {
    const path = '/sdk/splitChanges?s=1.3&since=-1';
    const headers = { authorization: `Bearer ${this.#key}` };
    const answer = await fetch(`${await this.origin()}${path}`, { headers });
    const { ff } = (await answer.json()) as { ff: { d: { name: string }[] } };
    return ff.d.map(({ name }) => name);
  }

  async until(key: string, treatment: string): Promise<void> {
    while ((await this.treatment(key)) !== treatment) await wait(100);
  }

  /** @returns the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const ended = new Promise<number | null>((resolve) => {
      this.#child.once('close', resolve);
    });
    this.#child.kill('SIGTERM');
    return ended;
  }
}

describe('an application against a branch, as docs/how-to.md says', () => {
  it('gets the files of a directory, which stays as it is', async () => {
    repository.commit('Begin');
    const before = readdirSync(repository.directory, { recursive: true }).sort();
    served = new Served(
      block('Run your application against your branch', 'FLAGKEEL_SDK_KEY='),
      repository.directory,
    );

    expect(await served.flags()).toEqual(['new-checkout']);
    await served.stop();
    expect(readdirSync(repository.directory, { recursive: true }).sort()).toEqual(before);
    expect(served.output).not.toContain('warn');
  });

  it('gets a forced flag, and another one when the file changes', async () => {
    const place = new TestRepository(join(folder, 'e2e'));
    place.write(forced());
    const command = block('Force a flag in an end-to-end test', 'FLAGKEEL_SDK_KEY=');
    served = new Served(command, folder);

    const users = ['e2e-user-1', 'e2e-user-2', 'other'];
    const treatments: unknown[] = [];
    for (const user of users) treatments.push(await served.treatment(user));
    expect(treatments).toEqual(['on', 'off', 'off']);
    place.write(ramped());
    await served.until('other', 'on');
  });

  const push = (to: string): void => {
    repository.commit('Change');
    repository.git('push', '--quiet', to, 'HEAD:refs/heads/new-checkout');
  };
  const preview = (url: string, token = ''): Served => {
    const command = block('Preview a branch', 'flagkeel service --repo').replace(/https:\S+/, url);
    return new Served(command, folder, { FLAGKEEL_GIT_TOKEN: token, FLAGKEEL_SDK_KEY: 'preview' });
  };

  it('gets a branch of a repository on this machine', async () => {
    const bare = makeServedRepository(folder);
    push(bare);
    served = preview(`file://${bare}`);

    expect(await served.flags()).toEqual(['new-checkout']);
    expect(await served.treatment('e2e-user-1')).toBe('on');
  });

  it('gets a branch of a server, its next commit, and leaves no clone behind', async () => {
    const server = await HttpGitServer.start();
    try {
      push(server.repository);
      served = preview(server.url, server.token);
      expect(await served.treatment('other')).toBe('off');
      repository.write(ramped());
      push(server.repository);
      await served.until('other', 'on');

      expect(await served.stop()).toBe(0);
      expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
      expect(served.output).not.toContain('warn');
    } finally {
      await server.stop();
    }
  });
});
