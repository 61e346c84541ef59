import { beforeAll, describe, expect, it } from 'vitest';
import { withoutSeeds } from '../../support/service-habits.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService, type TestService } from '../../support/service.js';
import { PROTECTED_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';
import { projectText, sectionOf } from './page.js';

const PAGE = projectText('docs/comparison.md');

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

describe('docs/comparison.md', () => {
  let service: TestService;
  let repository: ConfigRepository;

  beforeAll(async () => {
    service = await startTestService({ middleware: withoutSeeds });
    repository = new ConfigRepository();
    repository.write({
      'flagkeel.yaml': `${PROTECTED_CONFIG}defaults: { trafficType: user }\n`,
      'flags/new-checkout.yaml': CHECKOUT,
      'segments/beta-testers.yaml': testers('user-1042, user-2077, user-3001'),
      'kills/production.yaml': 'kills: {}\n',
    });
    repository.commit('Begin');
    expect((await run('reconcile')).exitCode).toBe(0);
    return async () => {
      await service.stop();
      repository[Symbol.dispose]();
    };
  });

  async function run(command: string) {
    const args = [command, '--url', service.origin, repository.directory];
    return cliRun(args, { FLAGKEEL_API_KEY: service.key, COLUMNS: '100' });
  }

  it.each(CHANGES)('shows what the program prints: %s', async (heading, message, files) => {
    const shown = /^flagkeel[^:]*:\n\n```text\n([^]*?)```/m.exec(sectionOf(PAGE, heading))?.[1];
    repository.write(files);
    repository.commit(message);

    const { stdout } = await run('plan');
    repository.git('reset', '--quiet', '--hard', 'HEAD~1');

    const printed = stdout
      .replace(/^Workspace .*\n/m, '')
      .replace(/sha256:[0-9a-f]{64}/, 'sha256:…');
    expect(shown).toBe(printed);
  });
});
