import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

interface PlanJson {
  readonly planHash: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly changes: readonly object[];
  readonly withheld: readonly object[];
  readonly liveKills: readonly { id: string; seen: string | null; commit: string | null }[];
}

const FLAGS = ['cart', 'pay', 'search'];
const ORDERED = 'kills:\n  search: { reason: "INC-1", by: ana }\n';
const ID = 'flag/pay@production';

describe('a flag that is killed on the service and not by git', () => {
  const scenario = useScenario();
  const { reconcile, run } = scenario;
  const dryRun = scenario.dryRun<PlanJson>;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    const flags = FLAGS.map((name) => [`flags/${name}.yaml`, flagText(name, 10)]);
    scenario.commit(
      {
        'flagkeel.yaml': PROTECTED_CONFIG,
        'kills/production.yaml': ORDERED,
        ...(Object.fromEntries(flags) as Record<string, string>),
      },
      'Add the flags',
    );
    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });
  });

  async function setKilled(name: string, environment: 'staging' | 'production', value: boolean) {
    const path = `/splits/ws/${live.id}/${name}/environments/${live[environment]}`;
    await live.ok('PATCH', path, [{ op: 'replace', path: '/killed', value }]);
    scenario.service.requests.length = 0;
  }

  /** Asked of the service alone: what is killed, without the one that git orders. */
  async function killedThere(): Promise<string[]> {
    const found: string[] = [];
    for (const name of FLAGS) {
      for (const environment of ['staging', 'production'] as const) {
        const path = `/splits/ws/${live.id}/${name}/environments/${live[environment]}`;
        const { killed } = (await scenario.call('GET', path)) as { killed: boolean };
        const isOrdered = name === 'search' && environment === 'production';
        if (killed && !isOrdered) found.push(`flag/${name}@${environment}`);
      }
    }
    return found.sort();
  }

  it('was "In sync" and nothing more where its spec does not name `killed`', async () => {
    const before = await dryRun();
    await setKilled('pay', 'production', true);
    await setKilled('cart', 'staging', true);

    const text = await reconcile('--dry-run');
    const json = await dryRun('--detailed-exitcode');
    const markdown = await reconcile('--dry-run', '--format', 'markdown');

    expect(before.liveKills).toEqual([]);
    expect(json.liveKills.map(({ id }) => id)).toEqual(await killedThere());
    expect(json.liveKills.map(({ id }) => id)).toEqual(['flag/cart@staging', ID]);
    expect(json).toMatchObject({ code: 0, changes: [], withheld: [], summary: before.summary });
    expect(json.planHash).toBe(before.planHash);
    expect(text.stdout).toContain('Killed on the service, not ordered by git');
    expect(text.stdout).toContain(`! ${ID}`);
    expect(text.stdout).toMatch(
      /Waiting: \S+, \S+ killed on the service; \d+ other objects in sync/,
    );
    expect(markdown.stdout).toContain('killed on the service, not ordered by git');
    expect(markdown.stdout).toContain(ID.replace('@', '&#64;'));
  });

  it('is told with the commit and the time at which a run first saw it, and is never undone', async () => {
    await setKilled('pay', 'production', true);
    const wayOut = expect.stringContaining('`flagkeel restore pay') as string;
    expect((await dryRun()).liveKills).toEqual([{ id: ID, seen: null, commit: null, wayOut }]);

    const first = await reconcile();
    const head = scenario.repository.git('rev-parse', 'HEAD').trim();
    scenario.commit({ 'flags/cart.yaml': flagText('cart', 20) }, 'Ramp cart');
    const [seen] = (await dryRun()).liveKills;
    const second = await reconcile();

    expect(first, first.stderr).toMatchObject({ code: 0 });
    expect(second.stdout).toContain(
      `seen since ${(seen?.seen ?? '').slice(0, 16).replace('T', ' ')} UTC`,
    );
    expect(seen).toEqual({ id: ID, seen: seen?.seen, commit: head, wayOut });
    expect(Math.abs(Date.parse(seen?.seen ?? '') - Date.now())).toBeLessThan(3_600_000);
    expect((await dryRun()).liveKills).toEqual([seen]);
    expect(await killedThere()).toEqual([ID]);

    await setKilled('pay', 'production', false);
    expect((await dryRun()).liveKills).toEqual([]);
  });

  it('is drift, and `drift --adopt` has git say it', async () => {
    await setKilled('pay', 'production', true);

    const drift = await run('drift');
    const adopted = await run('drift', '--adopt');

    expect(drift, drift.stderr).toMatchObject({ code: 2 });
    expect(drift.stdout).toContain(`~ ${ID} killed on the service, not ordered by git`);
    expect(drift.stdout).toContain('Drift: 1 object; 8 objects equal.');
    expect(adopted, adopted.stderr).toMatchObject({ code: 0 });
    expect(scenario.text('flags/pay.yaml')).toContain('killed: true');
    scenario.commit({}, 'Order the kill in git');
    expect((await dryRun()).liveKills).toEqual([]);
    expect(await run('drift')).toMatchObject({ code: 0 });
  });
});
