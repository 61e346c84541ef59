import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connect as openGithub } from '../../src/forge/github.js';
import { connect as openGitlab } from '../../src/forge/gitlab.js';
import { Clone } from '../../src/git/clone.js';
import { passOn } from '../support/answers.js';
import { flagkeel, type CliResult } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { listen, type Listening } from '../support/loopback.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG } from '../support/spec-texts.js';
import { startTunnelProxy, type TunnelProxy } from '../support/tunnel-proxy.js';

const HOST = 'admin.flags.test';

/** Ends TLS before the service, with a certificate that no authority of this machine knows. */
async function startTls(origin: string, folder: string): Promise<Listening> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const name = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...kind, ...name, ...files], {
    stdio: 'pipe',
  });
  const tls = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createServer(tls, (request, response) => {
    passOn(origin, request, response);
  });
  const { port, close } = await listen(server);
  const closeAll = async (): Promise<void> => {
    server.closeAllConnections();
    return close();
  };
  return { url: `https://127.0.0.1:${port}`, port, close: closeAll };
}

describe('a service beyond a proxy, with a certificate of a private authority', () => {
  const scenario = useScenario();
  let folder: string;
  let tls: Listening;
  let proxy: TunnelProxy;

  beforeEach(async () => {
    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG }, 'Begin');
    folder = makeDirectory();
    tls = await startTls(scenario.service.origin, folder);
    proxy = await startTunnelProxy({ port: tls.port });
    onTestFinished(async () => {
      await proxy.close();
      await tls.close();
    });
  });

  async function plan(env: Readonly<Record<string, string>>): Promise<CliResult> {
    const args = ['reconcile', '--dry-run', '--timeout', '2s', '--url', `https://${HOST}`];
    const all = { ...scenario.env, HTTPS_PROXY: proxy.url, ...env };
    return flagkeel([...args, scenario.repository.directory], { env: all });
  }

  it('is planned for through the proxy that the environment names', async () => {
    const run = await plan({ NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') });

    expect(run).toMatchObject({ code: 0 });
    expect(new Set(proxy.asked)).toEqual(new Set([`${HOST}:443`]));
    expect(scenario.service.requests.length).toBeGreaterThan(0);
  });

  it('names the setting for its certificate while nothing trusts it', async () => {
    const run = await plan({});

    expect(run.code).toBe(6);
    expect(run.stderr).toContain(
      'if an authority of your own signed it: export NODE_EXTRA_CA_CERTS=/path/to/its-certificate.pem',
    );
  });

  it('is named with the setting of git where a git server has it', async () => {
    const url = `${tls.url}/flags.git`;
    const remote = { url, settings: () => ({}), variables: () => ({}) };
    const directory = join(folder, 'clone');

    await expect(
      new Clone({ directory, remote, branch: 'main', path: '' }).fetch(),
    ).rejects.toThrow('export GIT_SSL_CAINFO=/path/to/its-certificate.pem');
  });

  it.each(['github', 'gitlab'] as const)('is named where %s has it', async (kind) => {
    const apiUrl = tls.url;
    const forge = (kind === 'github' ? openGithub : openGitlab)({
      place: { kind, apiUrl, repository: 'acme/flags' },
      token: 'made-up',
      timeoutMs: 5_000,
      wait: async () => Promise.resolve(),
      now: () => 0,
    });

    const status = { context: 'flagkeel', state: 'success', description: 'in sync' } as const;
    await expect(forge.setStatus({ commit: 'a'.repeat(40) }, status)).rejects.toThrow(
      'export NODE_EXTRA_CA_CERTS=/path/to/its-certificate.pem',
    );
  });
});
