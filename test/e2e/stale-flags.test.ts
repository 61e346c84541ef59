import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { changeAnswer } from '../support/answers.js';
import { flagkeel } from '../support/cli.js';
import { startTestForge } from '../support/forge.js';
import { makeRepository, type TestRepository } from '../support/git.js';
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
  let code: TestRepository;

  const flag = (name: string): string => flagText(name, 100, { staging: '' });

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
    code = makeRepository();
    code.commit('Read one', { 'src/shop.ts': "client.getTreatment('read');\n" });
    scenario.commit({ 'flags/fresh.yaml': `${flag('fresh')}description: New.\n` }, 'Touch one');
    scenario.service.requests.length = 0;
  });

  /** A forge, and the command over it and over code that reads one of the flags. */
  async function stale(kind: 'github' | 'gitlab') {
    const forge = await startTestForge(kind);
    onTestFinished(async () => forge.close());
    const env = { FLAGKEEL_API_KEY: scenario.service.key, FLAGKEEL_FORGE_TOKEN: forge.token };
    const asked = ['--online', '--code', code.directory, '--forge-url', forge.url];
    const run = async (...more: string[]) => scenario.runWith({ env }, 'stale', ...asked, ...more);
    return { forge, run, propose: async () => run('--propose', `${kind}:acme/flags`) };
  }

  it('are said to be unused, unread and settled', async () => {
    const { run } = await stale('github');
    const { code: exitCode, stdout } = await run('--format', 'json');
    const { flags } = JSON.parse(stdout) as {
      flags: { name: string; why: string[]; lastTraffic: string | null }[];
    };
    const said = Object.fromEntries(flags.map(({ name, why }) => [name, why.join(' ')]));
    expect(exitCode).toBe(2);
    expect(said).toEqual({
      busy: 'settled unread',
      needed: 'settled unused unread',
      old: 'settled unused unread',
      read: 'settled unused',
    });
    expect(flags.find(({ name }) => name === 'read')?.lastTraffic).toBeNull();

    const env = { FLAGKEEL_FORGE_TOKEN: 'token' };
    const args = ['stale', '--propose', 'github:acme/flags', scenario.repository.directory];
    const unasked = await flagkeel(args, { env });
    expect(unasked.code).toBe(64);
    expect(unasked.stderr).toContain('cannot propose without knowing who reads flags');
  });

  it('are proposed for removal from git, once, where no other specs name them, and nothing is sent to the service', async () => {
    const first = await stale('gitlab');
    const proposed = await first.propose();
    const again = await first.propose();
    expect(first.forge.proposals).toMatchObject([
      { branch: 'flagkeel/remove-needed', base: 'main', files: { 'flags/needed.yaml': null } },
      {
        ...{ branch: 'flagkeel/remove-old', base: 'main' },
        files: { 'flags/old.yaml': null, 'tests/old.test.yaml': null },
      },
    ]);
    expect(first.forge.proposals[1]?.body).toContain('settled, unused, unread');
    expect(proposed.stderr).toContain('flag/old: https://forge.example.com/pulls/2');
    expect(proposed.stderr).toContain('flag/busy is not proposed: it has traffic');
    expect(proposed.stderr).toContain('flag/read is not proposed: code names it');
    expect(again.stderr).toContain(
      'flag/old is not proposed: its branch flagkeel/remove-old is there already',
    );

    const block = (names: readonly string[]): string =>
      `# flagkeel: the owners of flags, kept by \`flagkeel fmt\`\n${names.join('')}# flagkeel: end\n`;
    const line = '/flags/old.yaml @shop\n';
    scenario.commit({ CODEOWNERS: `* @all\n${block([line])}` }, 'Own them');
    scenario.repository.write({ CODEOWNERS: `* @me # a draft\n${block([line])}` });
    const owned = await stale('github');
    await owned.propose();
    expect(owned.forge.proposals[1]?.files).toMatchObject({ CODEOWNERS: `* @all\n${block([])}` });
    scenario.repository.write({ 'flags/old.yaml': `${flag('old')}tags: [draft]\n` });
    const draft = await owned.propose();
    expect(draft.code).toBe(64);
    expect(draft.stderr).toContain('cannot propose: the files here are not committed (commit');
    scenario.repository.write({ 'flags/old.yaml': flag('old') });

    const user = `${flagText('user', 100, {})}  staging:
    rules: [{ if: { flag: needed, treatments: ["on"] }, serve: "on" }]
    defaultRule: "off"
`;
    scenario.commit({ 'flags/user.yaml': user }, 'Name one');
    const { forge, propose } = await stale('github');
    const { stderr } = await propose();
    expect(stderr).toContain('flag/needed is not proposed: the specs would be invalid');
    expect(forge.proposals.map(({ branch }) => branch)).toEqual(['flagkeel/remove-old']);
    expect(scenario.writes()).toEqual([]);
  });
});
