import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeDirectory } from '../support/git.js';
import { HttpGitServer, SshGitServer } from '../support/git-server.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });

const QUICK = ['--interval', '200ms', '--jitter', '50ms', '--debounce', '50ms'];

describe('watching a git server', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let folder: string;

  beforeEach(async () => {
    folder = makeDirectory();
    live = await liveWorkspace(scenario.service);
    writeFileSync(join(folder, 'key'), scenario.service.key);
    scenario.repository.write({ 'flagkeel.yaml': UNPROTECTED_CONFIG, 'flags/pay.yaml': flag(10) });
  });

  function watch(
    server: HttpGitServer | SshGitServer,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Watching {
    const where = ['--repo', server.url, '--branch', 'main', '--url', scenario.service.origin];
    const watching = new Watching(
      [...QUICK, '--schedule', 'off', ...where, ...args],
      {
        FLAGKEEL_API_KEY_FILE: join(folder, 'key'),
        FLAGKEEL_STATE_DIR: join(folder, 'state.git'),
        ...env,
      },
      folder,
    );
    onTestFinished(async () => {
      await watching.stop('SIGKILL');
      await server.stop();
    });
    return watching;
  }

  /** Commits, and brings the branch to the server by the back door. */
  function push(message: string, { repository }: HttpGitServer | SshGitServer): string {
    const commit = scenario.repository.commit(message);
    scenario.repository.git('push', '--quiet', '--force', repository, 'HEAD:refs/heads/main');
    return commit;
  }

  const percent = async (): Promise<number> => live.share('pay', 'staging');

  it('over http applies every push, shares its state, goes on where the server, the clone or the history is lost, keeps the token to itself, and ends', async () => {
    const { repository } = scenario;
    const http = await HttpGitServer.start();
    writeFileSync(join(folder, 'token'), `${http.token}\n`);
    const first = push('Add pay', http);
    const daemon = watch(http, [], { FLAGKEEL_GIT_TOKEN_FILE: join(folder, 'token') });
    await daemon.ran(first, 'applied');
    expect(repository.git('ls-remote', http.repository, 'refs/flagkeel/*')).not.toBe('');

    http.fault = 503;
    const lost = await daemon.line(({ msg }) => msg === 'source out of reach');
    expect(lost.level).toBe('error');
    repository.write({
      'flags/pay.yaml': flag(20),
      'flagkeel.yaml': `${UNPROTECTED_CONFIG}state: { push: false }\n`,
    });
    const second = push('Ramp pay', http);
    http.fault = 'reset';
    daemon.signal('SIGHUP');
    await daemon.line(({ triggers }) => triggers?.includes('signal') === true);
    http.fault = null;
    await daemon.line(({ msg }) => msg === 'source within reach again');
    await daemon.ran(second, 'applied');
    expect(await percent()).toBe(20);

    // In one step: what is deleted file by file while the daemon makes it again is never gone.
    renameSync(join(folder, 'state.git/flagkeel/clones'), join(folder, 'deleted'));
    repository.write({ 'flags/pay.yaml': flag(30) });
    await daemon.ran(push('Ramp pay on', http), 'applied');
    expect(await percent()).toBe(30);

    repository.git('checkout', '--quiet', '--orphan', 'anew');
    repository.write({ 'flags/pay.yaml': flag(40) });
    await daemon.ran(push('Begin again', http), 'applied');
    expect(await percent()).toBe(40);

    const { requests } = http;
    http.fault = 'hang';
    await daemon.until(() => http.requests > requests);
    expect(await daemon.stop()).toBe(143);
    expect(daemon.lines.at(-1)).toMatchObject({ msg: 'stopped' });
    const log = JSON.stringify(daemon.lines);
    expect(log).not.toContain(http.token);
    expect(log).not.toContain(scenario.service.key);
  });

  it.skipIf(lacks('sshd'))(
    'over ssh applies every push, from a folder of the repository',
    async () => {
      const ssh = await SshGitServer.start();
      for (const path of ['flagkeel.yaml', 'flags'])
        scenario.repository.move(path, `deep/config/${path}`);
      const first = push('Add pay', ssh);
      const daemon = watch(ssh, ['--path', 'deep/config'], {
        FLAGKEEL_GIT_SSH_KEY_FILE: ssh.keyFile,
        FLAGKEEL_GIT_KNOWN_HOSTS_FILE: ssh.knownHostsFile,
      });
      await daemon.ran(first, 'applied');

      scenario.repository.write({ 'deep/config/flags/pay.yaml': flag(20) });
      await daemon.ran(push('Ramp pay', ssh), 'applied');

      expect(await percent()).toBe(20);
    },
  );
});
