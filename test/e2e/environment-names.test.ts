import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';

const NAMES = { staging: 'staging', production: 'production' };

/** Flags in an environment, all of them alike. */
function flagsIn(environment: string, names: readonly string[]): Record<string, string> {
  const said = `trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  ${environment}: { defaultRule: "on" }
`;
  return Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, `flag: ${name}\n${said}`]));
}

describe('an environment that the config calls by its name, and then by its id', () => {
  const scenario = useScenario();
  const { run } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
  });

  function writeConfig(environments: readonly string[], policy = '{}', rest = ''): void {
    const blocks = environments.map((each) => `  ${each}: ${policy}\n`).join('');
    const config = `workspace: Default\n${rest}environments:\n${blocks}`;
    scenario.repository.write({ 'flagkeel.yaml': config });
  }

  it('keeps the guards that were applied last, knows what left the specs as ours, and may not have both', async () => {
    writeConfig([NAMES.staging], '{ guards: { maxDeletes: 1 } }', 'prune: true\n');
    scenario.repository.write(flagsIn(NAMES.staging, ['cart', 'menu', 'pay']));
    scenario.repository.commit('Add three flags');
    expect(await run('reconcile')).toMatchObject({ code: 0 });

    writeConfig([live.staging], '{ guards: { maxDeletes: 50 } }', 'prune: true\n');
    scenario.repository.write(flagsIn(live.staging, ['cart']));
    scenario.repository.remove('flags/menu.yaml');
    scenario.repository.remove('flags/pay.yaml');
    scenario.repository.commit('Call staging by its id, and take two flags away');
    const { changes, withheld, guards } = await scenario.dryRun();

    expect(withheld).toEqual([]);
    expect(changes.map(({ id }) => id)).toEqual([
      'flag/menu@staging',
      'flag/pay@staging',
      'flag/menu',
      'flag/pay',
    ]);
    expect(guards).toMatchObject([
      { guard: 'maxDeletes', environment: 'staging', limit: 1, found: 2 },
    ]);

    writeConfig([NAMES.staging, live.staging]);
    scenario.repository.commit('Have staging twice');
    scenario.service.requests.length = 0;
    expect(await run('reconcile')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('flagkeel.yaml has it by its name and by its id') as string,
    });
    expect(scenario.writes()).toEqual([]);
  });

  it('gets a key file of its own from drift --adopt where it shared one', async () => {
    const { staging, production } = live;
    writeConfig([staging, production]);
    const keysFile = '{ keysFile: staff.keys }';
    scenario.repository.write({
      'segments/staff.yaml': `segment: staff\ntrafficType: user\nenvironments:\n  ${staging}: ${keysFile}\n  ${production}: ${keysFile}\n`,
      'segments/staff.keys': 'u-1\nu-2\n',
    });
    scenario.repository.commit('Add staff');
    expect(await run('reconcile')).toMatchObject({ code: 0 });
    await live.ok('PUT', `/segments/${staging}/staff/upload`, ['u-3']);

    const { stdout } = await run('drift', '--adopt');

    const own = `segments/staff.${staging}.keys`;
    expect(stdout).toContain(`Wrote segment/staff@staging into ${own}, segments/staff.yaml.`);
    expect(scenario.text(own)).toBe('u-1\nu-2\nu-3\n');
    expect(scenario.text('segments/staff.keys')).toBe('u-1\nu-2\n');
    expect(scenario.text('segments/staff.yaml')).toContain(`${production}: ${keysFile}\n`);
    scenario.repository.commit('Adopt');
    expect(await run('plan', '--detailed-exitcode')).toMatchObject({ code: 0 });
  });
});
