import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpGitServer, SshGitServer } from '../support/git-server.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const CONFIG = 'workspace: Default\nenvironments:\n  staging: {}\n  production: {}\n';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });

const QUICK = [
  '--interval',
  '200ms',
  '--jitter',
  '50ms',
  '--debounce',
  '50ms',
  '--schedule',
  'off',
];

describe('watching a git server', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let http: HttpGitServer;
  let watching: Watching | undefined;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    live = await liveWorkspace(scenario.service);
    http = await HttpGitServer.start();
    writeFileSync(join(folder, 'key'), scenario.service.key);
    writeFileSync(join(folder, 'token'), `${http.token}\n`);
    scenario.repository.write({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': flag(10) });
  });

  afterEach(async () => {
    await watching?.stop('SIGKILL');
    await http.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function watch(
    args: readonly string[] = ['--repo', http.url, '--branch', 'main'],
    env: Readonly<Record<string, string>> = {},
  ): Watching {
    watching = new Watching(
      [...QUICK, '--url', scenario.service.origin, ...args],
      {
        FLAGKEEL_API_KEY_FILE: join(folder, 'key'),
        FLAGKEEL_GIT_TOKEN_FILE: join(folder, 'token'),
        FLAGKEEL_STATE_DIR: join(folder, 'state.git'),
        ...env,
      },
      folder,
    );
    return watching;
  }

  /** Commits, and brings the branch to the server by the back door. */
  function push(message: string, to = http.repository): string {
    const commit = scenario.repository.commit(message);
    scenario.repository.git('push', '--quiet', '--force', to, 'HEAD:refs/heads/main');
    return commit;
  }

  async function percent(): Promise<number | undefined> {
    return live.share('pay', 'staging');
  }

  it('applies every push over http, and keeps the token out of its words', async () => {
    const first = push('Add pay');
    const daemon = watch();
    await daemon.ran(first, 'applied');

    scenario.repository.write({ 'flags/pay.yaml': flag(20) });
    await daemon.ran(push('Ramp pay'), 'applied');

    expect(await percent()).toBe(20);
    const log = JSON.stringify(daemon.lines);
    expect(log).not.toContain(http.token);
    expect(log).not.toContain(scenario.service.key);
    expect(await daemon.stop()).toBe(143);
  });

  it.skipIf(lacks('sshd'))(
    'applies every push over ssh, from a folder of the repository',
    async () => {
      const ssh = await SshGitServer.start();
      try {
        for (const path of ['flagkeel.yaml', 'flags'])
          scenario.repository.move(path, `deep/config/${path}`);
        const first = push('Add pay', ssh.repository);
        const daemon = watch(['--repo', ssh.url, '--branch', 'main', '--path', 'deep/config'], {
          FLAGKEEL_GIT_SSH_KEY_FILE: ssh.keyFile,
          FLAGKEEL_GIT_KNOWN_HOSTS_FILE: ssh.knownHostsFile,
        });
        await daemon.ran(first, 'applied');

        scenario.repository.write({ 'deep/config/flags/pay.yaml': flag(20) });
        await daemon.ran(push('Ramp pay', ssh.repository), 'applied');

        expect(await percent()).toBe(20);
      } finally {
        await watching?.stop('SIGKILL');
        await ssh.stop();
      }
    },
  );

  it('shares its state over the server, unless the config says otherwise', async () => {
    const first = push('Add pay');
    await watch().ran(first, 'applied');
    await watching?.stop();

    const refs = scenario.repository.git('ls-remote', http.repository, 'refs/flagkeel/*');

    expect(refs).toMatch(/refs\/flagkeel\//);
  });

  it('goes on with what it has while the git server is down, and catches up', async () => {
    const first = push('Add pay');
    const daemon = watch();
    await daemon.ran(first, 'applied');

    http.fault = 503;
    const lost = await daemon.line(({ msg }) => msg === 'source out of reach');
    expect(lost.level).toBe('error');
    scenario.repository.write({
      'flags/pay.yaml': flag(20),
      'flagkeel.yaml': `${CONFIG}state: { push: false }\n`,
    });
    const second = push('Ramp pay');
    http.fault = 'reset';
    daemon.signal('SIGHUP');
    await daemon.line(({ triggers }) => triggers?.includes('signal') === true);
    http.fault = null;

    await daemon.line(({ msg }) => msg === 'source within reach again');
    await daemon.ran(second, 'applied');
    expect(await percent()).toBe(20);
  });

  it('ends while the git server hangs', async () => {
    const first = push('Add pay');
    const daemon = watch();
    await daemon.ran(first, 'applied');
    const { requests } = http;
    http.fault = 'hang';
    await daemon.until(() => http.requests > requests);

    expect(await daemon.stop()).toBe(143);
    expect(daemon.lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  it('takes a branch that was force-pushed as it is', async () => {
    push('Add pay');
    scenario.repository.write({ 'flags/pay.yaml': flag(20) });
    const second = push('Ramp pay');
    const daemon = watch();
    await daemon.ran(second, 'applied');

    scenario.repository.git('commit', '--quiet', '--amend', '--message', 'Ramp pay otherwise');
    scenario.repository.write({ 'flags/pay.yaml': flag(30) });
    await daemon.ran(push('And more'), 'applied');

    expect(await percent()).toBe(30);
  });

  it('converges after a history that was rewritten below what was applied', async () => {
    const first = push('Add pay');
    const daemon = watch();
    await daemon.ran(first, 'applied');

    scenario.repository.git('checkout', '--quiet', '--orphan', 'anew');
    scenario.repository.write({ 'flags/pay.yaml': flag(40) });
    const anew = push('Begin again');
    await daemon.ran(anew, 'applied');

    expect(await percent()).toBe(40);
  });

  it('refuses to go back to an older commit, and says so', async () => {
    const first = push('Add pay');
    scenario.repository.write({ 'flags/pay.yaml': flag(20) });
    const daemon = watch();
    await daemon.ran(push('Ramp pay'), 'applied');

    scenario.repository.git(
      'push',
      '--quiet',
      '--force',
      http.repository,
      `${first}:refs/heads/main`,
    );
    const refused = await daemon.ran(first, 'refused');

    expect(refused).toMatchObject({ level: 'warn' });
    expect(refused.summary).toContain('--allow-older');
    expect(await percent()).toBe(20);
  });

  it('makes its clone again when somebody deletes it', async () => {
    const first = push('Add pay');
    const daemon = watch();
    await daemon.ran(first, 'applied');

    // In one step: what is deleted file by file while the daemon makes it again is never gone.
    renameSync(join(folder, 'state.git/flagkeel/clones'), join(folder, 'deleted'));
    scenario.repository.write({ 'flags/pay.yaml': flag(20) });
    await daemon.ran(push('Ramp pay'), 'applied');

    expect(await percent()).toBe(20);
  });
});
