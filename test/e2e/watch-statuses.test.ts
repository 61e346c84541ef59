import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigRepository } from '../support/git.js';
import { flagkeel } from '../support/cli.js';
import { startTestForge, type TestForge } from '../support/forge.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { HttpGitServer } from '../support/git-server.js';
import { startScripted } from '../support/http.js';
import { openDatabase } from '../support/database.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG } from '../support/spec-texts.js';
import { startTestService } from '../support/service.js';
import { Watching } from '../support/watching.js';

function flag(percent: number | string): string {
  return `flag: pay
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${String(percent)}, "off": rest } }
`;
}

describe.each(['github', 'gitlab'] as const)('a watching daemon with statuses on %s', (kind) => {
  const scenario = useScenario();
  let forge: TestForge;
  let daemon: Watching;
  let first: string;

  beforeEach(async () => {
    forge = await startTestForge(kind);
    await liveWorkspace(scenario.service);
    first = scenario.commit(
      { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) },
      'Add pay',
    );
    const args = [
      ...['--interval', '200ms', '--debounce', '10ms', '--schedule', 'off'],
      ...['--statuses', `${kind}:acme/flags`, '--forge-url', forge.url],
      ...['--url', scenario.service.origin, scenario.repository.directory],
    ];
    const secrets = { FLAGKEEL_API_KEY: scenario.service.key, FLAGKEEL_FORGE_TOKEN: forge.token };
    daemon = new Watching(args, secrets);
    await daemon.ran(first, 'applied');
  });

  afterEach(async () => {
    await daemon.stop('SIGKILL');
    await forge.close();
  });

  /** Context → its states, in their order. */
  function told(commit: string): Record<string, string[]> {
    const found: Record<string, string[]> = {};
    for (const { sha, context, state } of forge.statuses) {
      if (sha === commit) (found[context] ??= []).push(state);
    }
    return found;
  }

  it('closes the statuses of each commit by what came of it, also where it is stopped', async () => {
    const second = scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay');
    await daemon.ran(second, 'applied');
    const third = scenario.commit({ 'flagkeel.yaml': 'workspace: [\n' }, 'Break the config');
    await daemon.ran(third, 'invalid');
    const fourth = scenario.commit(
      { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(30) },
      'Mend it',
    );
    await daemon.until(() => told(fourth)['flagkeel-watch'] !== undefined, 'a status');
    // In the middle of a run.
    expect(await daemon.stop()).toBe(143);

    const states = (commit: string) =>
      Object.entries(told(commit)).map(([context, all]) => [context, all.at(-1)]);
    const failure = kind === 'github' ? 'failure' : 'failed';
    const contexts = ['flagkeel-watch', 'flagkeel-watch/staging'];
    expect(states(first)).toEqual(contexts.map((context) => [context, 'success']));
    expect(states(second)).toEqual(contexts.map((context) => [context, 'success']));
    expect(states(third)).toEqual(contexts.map((context) => [context, failure]));
    expect(states(fourth)).not.toEqual([]);
    for (const [, last] of states(fourth)) expect(last).not.toMatch(/pending|running/);
    expect(JSON.stringify(daemon.lines)).not.toContain(forge.token);
  });
});

describe('a daemon that follows a branch, with statuses', () => {
  it('sets them in the repository that it clones', async () => {
    using repository = new ConfigRepository();
    const service = await startTestService();
    const forge = await startTestForge('github');
    const server = await HttpGitServer.start();
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-statuses-'));
    mkdirSync(join(server.root, 'acme'));
    symlinkSync(server.repository, join(server.root, 'acme', 'flags.git'));
    writeFileSync(join(folder, 'token'), server.token);
    repository.write({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) });
    const commit = repository.commit('Add pay');
    repository.git('push', '--quiet', server.repository, 'HEAD:refs/heads/main');
    const repo = new URL('/acme/flags.git', server.url).href;
    const daemon = new Watching(
      [
        ...['--repo', repo, '--branch', 'main', '--url', service.origin, '--schedule', 'off'],
        ...['--statuses', 'github', '--forge-url', forge.url],
      ],
      {
        FLAGKEEL_API_KEY: service.key,
        FLAGKEEL_FORGE_TOKEN: forge.token,
        FLAGKEEL_GIT_TOKEN_FILE: join(folder, 'token'),
      },
      folder,
    );
    await daemon.ran(commit, 'applied');
    await daemon.stop();

    const last = new Map(forge.statuses.map((each) => [each.context, each]));
    expect([...last.keys()]).toEqual(['flagkeel-watch', 'flagkeel-watch/staging']);
    for (const { sha, state } of last.values()) expect([sha, state]).toEqual([commit, 'success']);
    await server.stop();
    await forge.close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a daemon that was asked for something that cannot be', () => {
  it.each([
    { what: 'statuses', args: ['--statuses', 'gitbucket'] },
    { what: 'a port', args: ['--listen', '80 80'] },
    { what: 'a target', args: ['--notify', 'ftp://127.0.0.1/hook'] },
  ])('refuses $what before it asks the database of the replicas', async ({ args }) => {
    // Nobody listens there: who asks it first says so, after a while.
    const database = ['--database', 'postgres://nobody@127.0.0.1:1/none'];

    const { code, stderr } = await flagkeel(['watch', '.', ...database, ...args], {});

    expect(code, stderr).toBe(64);
    expect(stderr).not.toContain('database');
  });

  it.skipIf(lacks('postgresql'))('ends, though it has opened the database', async () => {
    const postgres = await openDatabase();
    const taken = await startScripted(() => ({ status: 200 }));
    const { host } = new URL(taken.url);

    const args = ['watch', '.', '--database', postgres.url, '--listen', host];
    const { code, stderr } = await flagkeel(args, {});

    expect(code, stderr).toBe(7);
    await taken.close();
    await postgres.stop();
  });
});
