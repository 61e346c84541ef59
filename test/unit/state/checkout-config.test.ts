import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { runGit } from '../../../src/git/git.js';
import type { GitCredentials } from '../../../src/git/remote-access.js';
import { openStateHome } from '../../../src/state/open.js';
import { checkoutOf, makeDirectory, makeRepository, TestRepository } from '../../support/git.js';
import { HttpGitServer } from '../../support/git-server.js';
import { flag, said, stateOf } from '../../support/state-homes.js';

const STATE = stateOf(flag('a'));
const SHARED = /^refs\/flagkeel\/ws\//;

let repository: ReturnType<typeof makeRepository>;
let origin: string;
/** What a planted program leaves behind when somebody runs it. */
let marker: string;
let program: string;

beforeEach(() => {
  repository = makeRepository();
  repository.commit('first');
  origin = makeBare('origin.git');
  repository.git('remote', 'add', 'origin', origin);
  const folder = makeDirectory();
  marker = join(folder, 'ran');
  program = join(folder, 'program');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`);
  chmodSync(program, 0o755);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

function makeBare(name: string): string {
  const directory = join(makeDirectory(), name);
  execFileSync('git', ['init', '--quiet', '--bare', directory]);
  return directory;
}

function statesIn(directory: string): string {
  return new TestRepository(directory).git('for-each-ref', '--format=%(refname)', 'refs/flagkeel');
}

/** One run that takes the lock, reads the state, writes it and gives the lock back. */
async function share(git?: GitCredentials): Promise<void> {
  const checkout = await openCheckout(repository.directory);
  try {
    const place = { checkout, workspaceId: 'ws', origin: 'http://localhost', directory: '', git };
    const shared = await openStateHome(place, 'always');
    if (!shared) throw new Error('no home');
    const release = await shared.lock(0);
    await shared.read();
    await shared.write(STATE, said('Apply'));
    await release();
  } finally {
    await checkout.close();
  }
}

async function gitServer(): Promise<HttpGitServer> {
  const server = await HttpGitServer.start();
  onTestFinished(async () => server.stop());
  return server;
}

function globalConfig(text: string): void {
  const file = join(makeDirectory(), 'gitconfig');
  writeFileSync(file, text);
  vi.stubEnv('GIT_CONFIG_GLOBAL', file);
}

describe("the checkout's own config", { timeout: 30_000 }, () => {
  it('redirects no state and runs no program, by itself or by a file that it includes', async () => {
    const url = `file://${origin}`;
    const included = join(makeDirectory(), 'included');
    writeFileSync(included, `[remote "${url}"]\n\tuploadpack = ${program}\n`);
    for (const [name, value] of [
      ['remote.origin.url', url],
      [`url.${makeBare('other.git')}.insteadOf`, url],
      [`url.${makeBare('another.git')}.pushInsteadOf`, url],
      ...['uploadpack', 'receivepack'].flatMap((end) => [
        [`remote.${url}.${end}`, program],
        [`remote.origin.${end}`, program],
      ]),
      ['include.path', included],
    ] as const) {
      repository.git('config', name, value);
    }

    await share();

    expect(statesIn(origin)).toMatch(SHARED);
    expect(existsSync(marker)).toBe(false);
  });

  it('hooks of the checkout are not run where origin leads into it', async () => {
    const hook = join(repository.directory, '.git', 'hooks', 'pre-receive');
    writeFileSync(hook, `#!/bin/sh\ntouch '${marker}'\n`);
    chmodSync(hook, 0o755);

    for (const url of ['.', '.git', repository.directory, `file://${repository.directory}/.git`]) {
      repository.git('config', 'remote.origin.url', url);
      await expect(share()).rejects.toThrow('leads into the checkout itself');
    }
    expect(existsSync(marker)).toBe(false);
  });

  it('a proxy that it names gets no request', async () => {
    const [server, proxy] = [await gitServer(), await gitServer()];
    repository.git('config', 'remote.origin.url', server.url);
    repository.git('config', 'http.proxy', new URL(proxy.url).origin);
    repository.git('config', `http.${server.url}.proxy`, new URL(proxy.url).origin);

    const { token } = server;
    await share({ token: () => token, servers: [new URL(server.url).origin] });

    expect(proxy.requests).toBe(0);
    expect(statesIn(server.repository)).toMatch(SHARED);
  });

  it('leaves no repository of ours behind once the checkout is closed', async () => {
    const temporary = makeDirectory();
    vi.stubEnv('TMPDIR', temporary);

    await share();

    expect(readdirSync(temporary)).toEqual([]);
    expect(repository.git('for-each-ref', 'refs/flagkeel')).not.toBe('');
  });
});

describe("the operator's own git", { timeout: 30_000 }, () => {
  it('may send origin elsewhere, and refuse bare repositories that nobody named', async () => {
    repository.git('config', 'remote.origin.url', 'https://git.invalid/flags.git');
    const elsewhere = `[url "${origin}"]\n\tinsteadOf = https://git.invalid/flags.git\n`;
    globalConfig(`[safe]\n\tbareRepository = explicit\n${elsewhere}`);

    await share();

    expect(statesIn(origin)).toMatch(SHARED);
  });

  it("the operator's ssh command is used", async () => {
    repository.git('config', 'remote.origin.url', 'ssh://git@git.invalid/flags.git');
    globalConfig(`[core]\n\tsshCommand = ${program}\n`);
    vi.stubEnv('GIT_SSH_COMMAND', '');

    await expect(share()).rejects.toMatchObject({ code: 'GIT' });

    expect(existsSync(marker)).toBe(true);
  });

  it("the operator's credential helper is asked", async () => {
    const server = await gitServer();
    repository.git('config', 'remote.origin.url', server.url);
    const answer = `username=x-access-token\\npassword=${server.token}\\n`;
    globalConfig(`[credential]\n\thelper = "!printf '${answer.replaceAll('\\', '\\\\')}'"\n`);

    await share();

    expect(statesIn(server.repository)).toMatch(SHARED);
  });
});

it('FLAGKEEL_GIT_TOKEN reaches origin over http on the named server only', async () => {
  const server = await gitServer();
  repository.git('config', 'remote.origin.url', server.url);
  const { token } = server;
  const [here, elsewhere] = [new URL(server.url).origin, 'https://git.example.com'];

  await expect(share({ token: () => token, servers: [elsewhere] })).rejects.toMatchObject({
    code: 'GIT',
    message: expect.stringContaining(`and ${here} in FLAGKEEL_GIT_ORIGINS`) as string,
  });
  expect([...server.authorizations]).toEqual([]);

  await share({ token: () => token, servers: [elsewhere, here] });
  expect(server.authorizations.size).toBe(1);
  expect(statesIn(server.repository)).toMatch(SHARED);
}, 30_000);

it('asks for no token where origin does not answer', async () => {
  repository.git('config', 'remote.origin.url', 'https://localhost:1/flags.git');

  await expect(share()).rejects.toMatchObject({
    code: 'GIT',
    message: expect.stringMatching(/unable to access (?!.*FLAGKEEL_GIT_TOKEN)/) as string,
  });
});

describe('a repository of ours over a checkout', { timeout: 30_000 }, () => {
  it.each([['--depth=1'], ['--filter=tree:0'], ['--filter=blob:none', '--no-checkout']])(
    'fetches and pushes where the clone lacks objects: %s',
    async (...clone) => {
      const source = makeRepository();
      for (const name of ['one', 'two', 'three']) source.commit(name, { [`flags/${name}`]: name });
      source.git('push', '--quiet', origin, 'HEAD:refs/heads/main');
      new TestRepository(origin).git('symbolic-ref', 'HEAD', 'refs/heads/main');
      new TestRepository(origin).git('config', 'uploadpack.allowFilter', 'true');
      const directory = join(makeDirectory(), 'clone');
      execFileSync('git', ['clone', '--quiet', ...clone, `file://${origin}`, directory]);
      repository = new TestRepository(directory);

      await share();
      await share();

      expect(statesIn(origin)).toMatch(SHARED);
    },
  );

  it('has the format of its objects, such as names by SHA-256', async () => {
    const directory = makeDirectory();
    execFileSync('git', ['init', '--quiet', '--object-format=sha256', directory]);
    const head = new TestRepository(directory).commit('first');
    const checkout = await checkoutOf(directory);
    const git = await checkout.repository?.ours();
    if (!git) throw new Error('no repository');

    const args = ['rev-parse', '--branches'];
    expect(await runGit(git, { args, purpose: 'list branches' })).toBe(`${head}\n`);
  });
});
