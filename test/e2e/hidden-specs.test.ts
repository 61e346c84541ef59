import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel, type CliResult } from '../support/cli.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { Watching } from '../support/watching.js';

const CONFIG =
  'workspace: Default\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\nprune: true\n';

const flag = (name: string): string => `flag: ${name}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { staging: { defaultRule: "on" } }
`;

const SEGMENT = 'segment: beta\nenvironments: { staging: { keys: [a] } }\n';

const NAMES = ['cart', 'pay'];

describe('specs hidden behind a link', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let watching: Watching | undefined;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    scenario.repository.write({ 'flagkeel.yaml': CONFIG, 'segments/beta.yaml': SEGMENT });
    for (const name of NAMES) scenario.repository.write({ [`flags/${name}.yaml`]: flag(name) });
  });

  afterEach(async () => {
    await watching?.stop('SIGKILL');
    watching = undefined;
  });

  async function run(...args: string[]): Promise<CliResult> {
    return flagkeel([...args, scenario.repository.directory], { env: scenario.env });
  }

  async function reconcile(...args: string[]): Promise<CliResult> {
    return run('reconcile', '--prune', '--url', scenario.service.origin, ...args);
  }

  async function flagNames(): Promise<string[]> {
    const { objects } = await live.ok<{ objects: { name: string }[] }>(
      'GET',
      `/splits/ws/${live.id}`,
    );
    return objects.map(({ name }) => name).toSorted();
  }

  it('are not pruned by any command, whatever is allowed', async () => {
    scenario.repository.commit('Add flags');
    expect((await reconcile()).code).toBe(0);

    scenario.repository.shell('git mv flags real; ln -s real flags');
    expect((await reconcile('--allow-dirty')).code).toBe(3);
    scenario.repository.commit('Link the folder');
    scenario.service.requests.length = 0;
    for (const ended of [
      await run('validate'),
      await reconcile(),
      await reconcile('--allow-dirty'),
      await reconcile('--dry-run'),
      await run('drift', '--url', scenario.service.origin),
    ]) {
      expect(ended.stdout + ended.stderr).toContain('flags:1:1: error[not-a-folder]');
      expect(ended.code).toBe(3);
    }
    expect(scenario.service.requests).toEqual([]);
    expect(await flagNames()).toEqual(NAMES);
  });

  it('are held by the daemon, which goes on once they are there again', async () => {
    const first = scenario.repository.commit('Add flags');
    const prompt = ['--interval', '1h', '--debounce', '50ms', '--schedule', 'off', '--prune'];
    watching = new Watching(
      [...prompt, '--url', scenario.service.origin, scenario.repository.directory],
      {
        FLAGKEEL_API_KEY: scenario.service.key,
      },
    );
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
