import { expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { startScripted } from '../../support/http.js';
import { STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

it.each([
  [[], {}, 'authorization'],
  [['--auth-header', 'x-api-key'], {}, 'x-api-key'],
  [[], { FLAGKEEL_AUTH_HEADER: 'x-api-key' }, 'x-api-key'],
  [['--auth-header', 'authorization'], { FLAGKEEL_AUTH_HEADER: 'x-api-key' }, 'authorization'],
])(
  'the key of a run goes in the header that the operator names: %j %j',
  async (options, variables, header) => {
    using repository = new ConfigRepository();
    repository.write({ 'flagkeel.yaml': STAGING_CONFIG });
    repository.commit('Begin');
    const server = await startScripted(() => ({ status: 401 }));
    const environment = { FLAGKEEL_API_KEY: 'the-key', ...variables };
    const args = ['plan', '--url', server.url, ...options, repository.directory];

    const { exitCode } = await cliRun(args, environment);
    await server.close();

    expect(exitCode).toBe(6);
    const [sent] = server.seen;
    const found = ['authorization', 'x-api-key'].filter(
      (name) => sent?.headers[name] !== undefined,
    );
    expect(found).toEqual([header]);
  },
);
