import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';

describe('an environment that the config calls by its id', () => {
  const scenario = useScenario();
  const { run } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
  });

  function writeConfig(environments: readonly string[]): void {
    const blocks = environments.map((each) => `  ${each}: {}\n`).join('');
    scenario.repository.write({ 'flagkeel.yaml': `workspace: Default\nenvironments:\n${blocks}` });
  }

  it('may not have both', async () => {
    writeConfig(['staging', live.staging]);
    scenario.repository.commit('Have staging twice');

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
