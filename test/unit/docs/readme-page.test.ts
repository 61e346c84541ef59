import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withoutSeeds } from '../../support/service-habits.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService } from '../../support/service.js';
import { cliRun } from '../../support/terminal.js';
import { projectText } from './page.js';

/** The workspace that `--embedded` makes of the config of `specs-example`. */
const SEED = {
  workspaces: [
    {
      name: 'Default',
      environments: ['development', 'staging', 'production'].map((name) => ({ name })),
      trafficTypes: ['user'],
    },
  ],
};

it('README.md shows the plan that its quick start prints', async () => {
  const page = projectText('README.md');
  const [, file = ''] = /10 to 25 % in `specs-example\/([^`]*)`/.exec(page) ?? [];
  const service = await startTestService({ seed: SEED, middleware: withoutSeeds });
  using repository = new ConfigRepository();
  const run = async (command: string) =>
    cliRun([command, '--url', service.origin, repository.directory], {
      FLAGKEEL_API_KEY: service.key,
      COLUMNS: '100',
    });
  const path = join(repository.directory, file);
  cpSync('specs-example', repository.directory, { recursive: true });
  repository.commit('Begin');
  expect(await run('reconcile')).toMatchObject({ exitCode: 0 });

  writeFileSync(path, readFileSync(path, 'utf8').replace('"on": 10', '"on": 25'));
  repository.commit('Ramp checkout to 25 %');
  const { stdout } = await run('plan');
  await service.stop();

  const [, shown] = /^```text\n([^]*?)```/m.exec(page) ?? [];
  expect(shown).toBe(stdout.replaceAll(/^(?:Workspace|planHash) .*\n/gm, ''));
});
