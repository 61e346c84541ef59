import { beforeEach, describe, expect, it } from 'vitest';
import { withKeysHabits, type KeysHabits } from '../support/service-habits.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario, type Scenario } from '../support/scenario.js';

const CONFIG = `workspace: Default
environments: { staging: {} }
defaults: { trafficType: user }
guards: { maxKeyRemovals: 10000, maxKeyRemovalPercent: 100 }
`;

const SERVICES: readonly KeysHabits[] = [
  { countsPage: false, replaces: false, cutTo: 100 },
  { countsPage: false, replaces: true, cutTo: 13 },
  { countsPage: true, replaces: false, cutTo: 100 },
  { countsPage: true, replaces: false, cutTo: 5 },
  { countsPage: true, replaces: true, cutTo: 100 },
  { countsPage: true, replaces: true, cutTo: 13 },
];

function keysTo(end: number): string[] {
  return Array.from({ length: end }, (_, index) => `user-${10_000 + index}`);
}

function commitKeys({ commit }: Scenario, keys: readonly string[]): void {
  const files = {
    'flagkeel.yaml': CONFIG,
    'segments/beta.yaml': 'segment: beta\nenvironments: { staging: { keysFile: beta.keys } }\n',
    'segments/beta.keys': keys.map((key) => `${key}\n`).join(''),
  };
  commit(files, `Have ${keys.length} keys`);
}

/** Asked until a page is empty, which is the end whatever the service counts. */
async function liveKeys(live: LiveWorkspace): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const path = `/segments/${live.staging}/beta/keys?limit=100&offset=${found.length}`;
    const { keys } = await live.ok<{ keys: { key: string }[] }>('GET', path);
    if (keys.length === 0) return found.sort();
    found.push(...keys.map(({ key }) => key));
  }
}

/** The contract does not say whether `count` of a list of keys is of the segment or of the page. */
describe.each(SERVICES)(
  'keys of a segment (count of a page: $countsPage, uploads replace: $replaces, keys in a page: $cutTo)',
  (habits) => {
    const scenario = useScenario({ middleware: withKeysHabits(habits) });
    const { reconcile } = scenario;
    let live: LiveWorkspace;

    beforeEach(async () => {
      live = await liveWorkspace(scenario.service);
    });

    async function addByHand(keys: readonly string[]): Promise<void> {
      const path = `/segments/${live.staging}/beta/upload?title=by%20hand&comment=by%20hand`;
      await live.ok('PUT', path, keys);
    }

    it('are all there after one is added, after one is removed, and in sync then', async () => {
      commitKeys(scenario, keysTo(150));
      expect(await reconcile()).toMatchObject({ code: 0 });

      commitKeys(scenario, keysTo(151));
      expect(await reconcile()).toMatchObject({ code: 0 });
      expect(await liveKeys(live)).toEqual(keysTo(151));

      commitKeys(scenario, keysTo(149));
      expect(await reconcile()).toMatchObject({ code: 0 });
      expect(await liveKeys(live)).toEqual(keysTo(149));
      const again = await reconcile();
      expect(again).toMatchObject({ code: 0 });
      expect(again.stdout).toContain('In sync');
    });

    it('are not in sync where git has the first hundred of them alone', async () => {
      commitKeys(scenario, keysTo(100));
      expect(await reconcile()).toMatchObject({ code: 0 });
      await addByHand(keysTo(250));

      const { stdout } = await reconcile('--dry-run');

      expect(stdout).not.toContain('In sync');
      expect(stdout).toContain('+0 −150 keys');
    });

    it('are imported to the last', async () => {
      commitKeys(scenario, keysTo(1));
      expect(await reconcile()).toMatchObject({ code: 0 });
      await addByHand(keysTo(250));
      scenario.repository.remove('segments');
      scenario.repository.remove('flagkeel.yaml');

      expect(await scenario.run('import', '--environment', 'staging')).toMatchObject({ code: 0 });

      const lines = scenario.text('segments/beta.staging.keys').split('\n');
      expect(lines.filter((line) => line.startsWith('user-'))).toEqual(keysTo(250));
    });
  },
);

describe.each([
  { counts: 'all keys', countsPage: false },
  { counts: 'the page', countsPage: true },
])('an upload that replaced the keys on a service that counts $counts', ({ countsPage }) => {
  const scenario = useScenario({ middleware: withKeysHabits({ countsPage, replaces: true }) });

  it('is undone to the last key', async () => {
    commitKeys(scenario, keysTo(9_950));
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    // Together more than a request takes, so that the new ones go alone.
    commitKeys(scenario, keysTo(10_050));

    const { code, stdout } = await scenario.reconcile('--format', 'json');

    expect(code).toBe(5);
    expect(stdout).toContain('SEGMENT_SHRANK');
    expect(stdout).toContain('replaced its 9950 keys by 100, which were put back');
    expect(await liveKeys(await liveWorkspace(scenario.service))).toEqual(keysTo(9_950));
  });
});
