import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeAnswer } from '../support/changed-answers.js';
import { flagkeel } from '../support/cli.js';
import { startTestForge, type TestForge } from '../support/forge.js';
import { makeRepository } from '../support/git.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const NOW = Date.now();
/** What the service says of traffic, in the form of the vendor's; no entry: a year ago. */
const TRAFFIC: Readonly<Record<string, number | null>> = { busy: NOW, read: null, fresh: null };

describe('flags that may go', () => {
  const scenario = useScenario({
    middleware: (next) => (request, response) => {
      changeAnswer(response, (text) =>
        text.replaceAll(/"name":"(\w+)","environment":/g, (all, name: string) => {
          const at = name in TRAFFIC ? TRAFFIC[name] : NOW - 365 * 86_400_000;
          return `"lastTrafficReceivedAt":${String(at)},${all}`;
        }),
      );
      next(request, response);
    },
  });
  let forge: TestForge;

  const flag = (name: string): string => flagText(name, 100, { staging: '' });

  afterEach(async () => forge.close());

  beforeEach(async () => {
    const names = ['old', 'busy', 'read', 'needed', 'fresh'];
    const files = Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, flag(name)]));
    scenario.repository.write({
      ...files,
      'flagkeel.yaml': STAGING_CONFIG,
      'tests/old.test.yaml':
        'tests: old\ncases: [{ name: on, environment: staging, key: a, expect: "on" }]\n',
    });
    scenario.repository.shell(
      'git add --all; GIT_COMMITTER_DATE=2024-01-05T09:00:00Z GIT_AUTHOR_DATE=2024-01-05T09:00:00Z git commit -qm "Add flags"',
    );
    await scenario.reconcile();
    scenario.commit({ 'flags/fresh.yaml': `${flag('fresh')}description: New.\n` }, 'Touch one');
    scenario.service.requests.length = 0;
  });

  async function stale(kind: 'github' | 'gitlab', ...args: string[]) {
    forge = await startTestForge(kind);
    const code = makeRepository();
    code.commit('Read one', { 'src/shop.ts': "client.getTreatment('read');\n" });
    const env = { FLAGKEEL_API_KEY: scenario.service.key, FLAGKEEL_FORGE_TOKEN: forge.token };
    const asked = ['--online', '--code', code.directory, '--forge-url', forge.url, ...args];
    return async (...more: string[]) => scenario.runWith({ env }, 'stale', ...asked, ...more);
  }

  it('are said to be unused, unread and settled', async () => {
    const run = await (await stale('github'))('--format', 'json');
    const { flags } = JSON.parse(run.stdout) as {
      flags: { name: string; why: string[]; lastTraffic: string | null }[];
    };
    const said = Object.fromEntries(flags.map(({ name, why }) => [name, why.join(' ')]));

    expect(run.code).toBe(2);
    expect(said).toEqual({
      busy: 'settled unread',
      needed: 'settled unused unread',
      old: 'settled unused unread',
      read: 'settled unused',
    });
    expect(flags.find(({ name }) => name === 'read')?.lastTraffic).toBeNull();
  });

  it.each(['github', 'gitlab'] as const)(
    'are proposed for removal from git on %s, once, and nothing is sent to the service',
    async (kind) => {
      const run = await stale(kind, '--propose', `${kind}:acme/flags`);
      const first = await run();
      const again = await run();

      expect(forge.proposals.map(({ branch, base, files }) => ({ branch, base, files }))).toEqual([
        {
          ...{ branch: 'flagkeel/remove-needed', base: 'main' },
          files: { 'flags/needed.yaml': null },
        },
        {
          ...{ branch: 'flagkeel/remove-old', base: 'main' },
          files: { 'flags/old.yaml': null, 'tests/old.test.yaml': null },
        },
      ]);
      expect(forge.proposals[1]?.body).toContain('settled, unused, unread');
      expect(first.stderr).toContain('flag/old: https://forge.example.com/pulls/2');
      expect(first.stderr).toContain('flag/busy is not proposed: it has traffic');
      expect(first.stderr).toContain('flag/read is not proposed: code names it');
      expect(again.stderr).toContain(
        'flag/old is not proposed: its branch flagkeel/remove-old is there already',
      );
      expect(forge.proposals).toHaveLength(2);
      expect(scenario.writes()).toEqual([]);
    },
  );

  it('stay where other specs name them', async () => {
    scenario.repository.write({
      'flags/user.yaml': `${flagText('user', 100, {})}  staging:\n    rules: [{ if: { flag: needed, treatments: ["on"] }, serve: "on" }]\n    defaultRule: "off"\n`,
    });
    scenario.repository.commit('Name one');
    const run = await stale('github', '--propose', 'github:acme/flags');
    const { stderr } = await run();

    expect(stderr).toContain('flag/needed is not proposed: the specs would be invalid');
    expect(forge.proposals.map(({ branch }) => branch)).toEqual(['flagkeel/remove-old']);
  });

  it('are not proposed where nothing was asked about their readers', async () => {
    forge = await startTestForge('github');
    const { code, stderr } = await flagkeel(
      ['stale', '--propose', 'github:acme/flags', scenario.repository.directory],
      { env: { FLAGKEEL_FORGE_TOKEN: forge.token } },
    );

    expect(code).toBe(64);
    expect(stderr).toContain('cannot propose without knowing who reads flags');
  });
});
