import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useScenario } from '../../support/scenario.js';
import { withoutSeeds } from '../../support/service-habits.js';
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

const scenario = useScenario({ seed: SEED, middleware: withoutSeeds });

it('README.md shows the plan that its quick start prints', async () => {
  const page = projectText('README.md');
  const [, file = ''] = /10 to 25 % in `specs-example\/([^`]*)`/.exec(page) ?? [];
  cpSync('specs-example', scenario.repository.directory, { recursive: true });
  scenario.repository.commit('Begin');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });

  const ramped = scenario.text(file).replace('"on": 10', '"on": 25');
  scenario.commit({ [file]: ramped }, 'Ramp checkout to 25 %');
  const env = { ...scenario.env, COLUMNS: '100' };
  const { stdout } = await scenario.runWith({ env }, 'plan');

  const [, shown] = /^```text\n([^]*?)```/m.exec(page) ?? [];
  expect(shown).toBe(stdout.replaceAll(/^(?:Workspace|planHash) .*\n/gm, ''));
});
