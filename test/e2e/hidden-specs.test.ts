import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const CONFIG = `${STAGING_CONFIG}prune: true\n`;
const flag = (name: string): string => flagText(name, 100, { staging: '' });
const SEGMENT = 'segment: beta\ntrafficType: user\nenvironments: { staging: { keys: [a] } }\n';

const NAMES = ['cart', 'pay'];

describe('specs hidden behind a link', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    scenario.repository.write({ 'flagkeel.yaml': CONFIG, 'segments/beta.yaml': SEGMENT });
    for (const name of NAMES) scenario.repository.write({ [`flags/${name}.yaml`]: flag(name) });
  });

  async function flagNames(): Promise<string[]> {
    const { objects } = await live.ok<{ objects: { name: string }[] }>(
      'GET',
      `/splits/ws/${live.id}`,
    );
    return objects.map(({ name }) => name).toSorted();
  }

  it('are not pruned by any command, whatever is allowed', async () => {
    scenario.repository.commit('Add flags');
    expect((await reconcile('--prune')).code).toBe(0);

    scenario.repository.shell('git mv flags real; ln -s real flags');
    expect((await reconcile('--prune', '--allow-dirty')).code).toBe(3);
    scenario.repository.commit('Link the folder');
    scenario.service.requests.length = 0;
    for (const ended of [
      await flagkeel(['validate', scenario.repository.directory]),
      await reconcile('--prune'),
      await reconcile('--prune', '--allow-dirty'),
      await reconcile('--prune', '--dry-run'),
      await scenario.run('drift'),
    ]) {
      expect(ended.stdout + ended.stderr).toContain('flags:1:1: error[not-a-folder]');
      expect(ended.code).toBe(3);
    }
    expect(scenario.service.requests).toEqual([]);
    expect(await flagNames()).toEqual(NAMES);
  });

  it('are held by the daemon, which goes on once they are there again', async () => {
    const first = scenario.repository.commit('Add flags');
    const watching = scenario.watch(['--interval', '1h', '--prune']);
    await watching.ran(first, 'applied');

    scenario.repository.shell('git mv flags real; ln -s real flags');
    await watching.ran(scenario.repository.commit('Link flags'), 'invalid');
    expect(await flagNames()).toEqual(NAMES);
    // A link that is named like a file may hide a folder as well.
    scenario.repository.shell('rm flags; git mv real flags; git mv flags/pay.yaml pay.yaml');
    scenario.repository.shell(
      'mkdir real; git mv pay.yaml real/pay.yaml; ln -s ../real flags/cart2.yaml',
    );
    await watching.ran(scenario.repository.commit('Link a folder of flags'), 'invalid');
    expect(await flagNames()).toEqual(NAMES);
    scenario.repository.shell('rm flags/cart2.yaml; git mv real/pay.yaml flags/pay.yaml');
    scenario.repository.write({ 'flags/shop.yaml': flag('shop') });

    await watching.ran(scenario.repository.commit('Put them back'), 'applied');
    expect(await flagNames()).toEqual([...NAMES, 'shop']);
  });
});
