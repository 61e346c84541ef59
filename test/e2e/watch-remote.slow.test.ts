import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FollowedBranch, partsOf } from '../support/followed-branch.js';
import { HttpGitServer, SshGitServer } from '../support/git-server.js';
import { lacks } from '../support/requirements.js';
import { startTestService } from '../support/service.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number, folder = ''): Record<string, string> => ({
  [`${folder}flags/pay.yaml`]: flagText('pay', percent, { staging: '' }),
});

describe('watching a git server', () => {
  /** With what daemons need besides. */
  async function worldOf(server: HttpGitServer | SshGitServer) {
    const world = new FollowedBranch(await partsOf(await startTestService()), server);
    onTestFinished(async () => {
      await world[Symbol.asyncDispose]();
      await server.stop();
    });
    const keyFile = join(world.root, 'key');
    writeFileSync(keyFile, world.service.key);
    const env = {
      FLAGKEEL_API_KEY_FILE: keyFile,
      FLAGKEEL_STATE_DIR: join(world.root, 'state.git'),
    };
    return { world, env, percent: async () => world.live.share('pay', 'staging') };
  }

  it('over http applies every push, shares its state, goes on where the server, the clone or the history is lost, keeps the token to itself, and ends', async () => {
    const http = await HttpGitServer.start();
    const { world, env, percent } = await worldOf(http);
    const { repository, root } = world;
    writeFileSync(join(root, 'token'), `${http.token}\n`);
    const first = world.pushFiles('Add pay', { 'flagkeel.yaml': UNPROTECTED_CONFIG, ...flag(10) });
    const daemon = world.follow([], { ...env, FLAGKEEL_GIT_TOKEN_FILE: join(root, 'token') });
    await daemon.ran(first, 'applied');
    expect(repository.git('ls-remote', http.repository, 'refs/flagkeel/*')).not.toBe('');

    http.fault = 503;
    const lost = await daemon.line(({ msg }) => msg === 'source out of reach');
    expect(lost.level).toBe('error');
    const second = world.pushFiles('Ramp pay', {
      'flagkeel.yaml': `${UNPROTECTED_CONFIG}state: { push: false }\n`,
      ...flag(20),
    });
    http.fault = 'reset';
    daemon.signal('SIGHUP');
    await daemon.line(({ triggers }) => triggers?.includes('signal') === true);
    http.fault = null;
    await daemon.line(({ msg }) => msg === 'source within reach again');
    await daemon.ran(second, 'applied');
    expect(await percent()).toBe(20);

    // In one step: what is deleted file by file while the daemon makes it again is never gone.
    renameSync(join(root, 'state.git/flagkeel/clones'), join(root, 'deleted'));
    await daemon.ran(world.pushFiles('Ramp pay on', flag(30)), 'applied');
    expect(await percent()).toBe(30);

    repository.git('checkout', '--quiet', '--orphan', 'anew');
    await daemon.ran(world.pushFiles('Begin again', flag(40)), 'applied');
    expect(await percent()).toBe(40);

    const { requests } = http;
    http.fault = 'hang';
    await daemon.until(() => http.requests > requests);
    expect(await daemon.stop()).toBe(143);
    expect(daemon.lines.at(-1)).toMatchObject({ msg: 'stopped' });
    const log = JSON.stringify(daemon.lines);
    expect(log).not.toContain(http.token);
    expect(log).not.toContain(world.service.key);
  });

  it.skipIf(lacks('sshd'))(
    'over ssh applies every push, from a folder of the repository',
    async () => {
      const ssh = await SshGitServer.start();
      const { world, env, percent } = await worldOf(ssh);
      const config = { 'deep/config/flagkeel.yaml': UNPROTECTED_CONFIG };
      const first = world.pushFiles('Add pay', { ...config, ...flag(10, 'deep/config/') });
      const daemon = world.follow(['--path', 'deep/config'], {
        ...env,
        FLAGKEEL_GIT_SSH_KEY_FILE: ssh.keyFile,
        FLAGKEEL_GIT_KNOWN_HOSTS_FILE: ssh.knownHostsFile,
      });
      await daemon.ran(first, 'applied');

      await daemon.ran(world.pushFiles('Ramp pay', flag(20, 'deep/config/')), 'applied');

      expect(await percent()).toBe(20);
    },
  );
});
