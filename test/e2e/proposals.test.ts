import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestForge, type TestForge } from '../support/forge.js';
import { InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const CONFIG = STAGING_CONFIG.replace('staging: {}', 'staging: { onDrift: propose }');
const BRANCH = 'flagkeel/live-values/default';

describe.each(['github', 'gitlab'] as const)('live values proposed on %s', (kind) => {
  const scenario = useScenario();
  let forge: TestForge;
  let live: LiveWorkspace;
  let watched: InProcessDaemon;
  let first: string;

  beforeEach(async () => {
    forge = await startTestForge(kind);
    live = await liveWorkspace(scenario.service);
    const pay = `# Paying.\n${flagText('pay', 10, { staging: '' })}`;
    first = scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': pay }, 'Add pay');
    const target = { kind, apiUrl: forge.url, repository: 'acme/flags', base: null };
    const proposals = new Map([
      ['default', { ...target, name: 'default', token: () => forge.token }],
    ]);
    watched = new InProcessDaemon(
      scenario.repository.directory,
      scenario.service,
      {},
      { proposals },
    );
    watched.daemon.start();
    await watched.rest(1);
  });

  afterEach(async () => {
    await watched.daemon.stop('SIGTERM');
    await forge.close();
  });

  async function byHand(size: number): Promise<void> {
    const path = `/splits/ws/${live.id}/pay/environments/${live.staging}`;
    const value = [
      { treatment: 'on', size },
      { treatment: 'off', size: 100 - size },
    ];
    await live.ok('PATCH', path, [{ op: 'replace', path: '/defaultRule', value }]);
  }

  const writes = (): string[] => forge.requests.filter((each) => !each.startsWith('GET'));

  it('are one pull request that follows what is live, and goes when it is merged', async () => {
    expect(writes()).toEqual([]);

    // Somebody changes the share by hand: it stays, and is proposed.
    await byHand(40);
    await watched.run();
    const { pulls, branches } = forge.proposals;
    expect(pulls).toMatchObject([{ branch: BRANCH, base: 'main', isOpen: true }]);
    expect(pulls[0]?.title).toBe('Take over 1 live value of default');
    expect(pulls[0]?.body).toContain('- `flag/pay@staging`');
    expect(branches.get(BRANCH)?.on).toBe(first);
    const file = branches.get(BRANCH)?.files.get('flags/pay.yaml') ?? '';
    expect(file).toMatch(/^# Paying\.\n[^]*"on": 40/);

    // A run that finds the same writes nothing.
    const before = writes().length;
    await watched.run();
    expect(writes()).toHaveLength(before);

    // Another value: the same pull request says it.
    await byHand(60);
    await watched.run();
    expect(pulls).toHaveLength(1);
    expect(branches.get(BRANCH)?.files.get('flags/pay.yaml')).toContain('"on": 60');

    // A merge makes git say it: nothing is left to propose, and nothing to write.
    const merged = branches.get(BRANCH)?.files.get('flags/pay.yaml') ?? '';
    scenario.commit({ 'flags/pay.yaml': merged }, 'Take over');
    expect(await watched.run()).toMatchObject({ result: 'in-sync', plan: { withheld: [] } });
    expect(pulls).toMatchObject([{ isOpen: false }]);
  });

  it('end no run while the forge is away or refuses', async () => {
    forge.forbidWrites();
    await byHand(40);

    expect(await watched.run()).toMatchObject({ result: 'in-sync', exitCode: 0 });

    expect(watched.log.join('')).toContain('live values could not be proposed');
    expect(watched.log.join('')).not.toContain(forge.token);
  });
});
