import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useScenario } from '../../support/scenario.js';
import { withoutSeeds } from '../../support/service-habits.js';
import { PROTECTED_CONFIG } from '../../support/spec-texts.js';
import { projectText, sectionOf } from './page.js';

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

const CHECKOUT = `flag: new-checkout
description: One-page checkout.
treatments: { "on": One page, "off": Three steps }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    rules:
      - { name: beta, if: { segment: beta-testers }, serve: "on" }
    defaultRule: { "on": 10, "off": rest }
`;
const SEARCH = `flag: search
description: Search, rewritten.
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production: { defaultRule: { "on": 5, "off": rest } }
`;
const testers = (keys: string): string => `segment: beta-testers
description: Customers who opted in to betas.
environments:
  staging: { keys: [qa-bot-1] }
  production: { keys: [${keys}] }
`;
const KILLS = 'kills:\n  new-checkout: { reason: INC-4711 double charges, by: ana }\n';

/** Heading of the page → what its pull request changes. */
const CHANGES: readonly (readonly [string, string, Record<string, string>])[] = [
  [
    '### A ramp',
    'Ramp checkout to 25 %',
    { 'flags/new-checkout.yaml': CHECKOUT.replace('"on": 10', '"on": 25') },
  ],
  ['### A new flag', 'Add the new search', { 'flags/search.yaml': SEARCH }],
  ['### A kill', 'Kill the new checkout: INC-4711', { 'kills/production.yaml': KILLS }],
  [
    '### Other keys in a segment',
    'Change who tests betas',
    { 'segments/beta-testers.yaml': testers('user-1042, user-3001, user-4410, user-5120') },
  ],
];

it('docs/comparison.md shows what the program prints for each change', async () => {
  const page = projectText('docs/comparison.md');
  const begin = {
    'flagkeel.yaml': `${PROTECTED_CONFIG}defaults: { trafficType: user }\n`,
    'flags/new-checkout.yaml': CHECKOUT,
    'segments/beta-testers.yaml': testers('user-1042, user-2077, user-3001'),
    'kills/production.yaml': 'kills: {}\n',
  };
  scenario.commit(begin, 'Begin');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  const env = { ...scenario.env, COLUMNS: '100' };
  for (const [heading, message, files] of CHANGES) {
    scenario.commit(files, message);

    const { stdout } = await scenario.runWith({ env }, 'plan');
    scenario.repository.git('reset', '--quiet', '--hard', 'HEAD~1');

    const printed = stdout
      .replace(/^Workspace .*\n/m, '')
      .replace(/sha256:[0-9a-f]{64}/, 'sha256:…');
    const shown = /^flagkeel[^:]*:\n\n```text\n([^]*?)```/m.exec(sectionOf(page, heading));
    expect(shown?.[1], heading).toBe(printed);
  }
});
