import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';

const NAMES = { staging: 'staging', production: 'production' };

interface PlanJson {
  readonly changes: readonly { readonly id: string }[];
  readonly withheld: readonly { readonly id: string; readonly why: string }[];
  readonly guards: readonly { readonly guard: string; readonly environment: string | null }[];
}

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
  let repository: ConfigRepository;
  let service: TestService;
  let live: LiveWorkspace;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
    live = await liveWorkspace(service);
  });

  afterEach(async () => {
    await service.stop();
    repository[Symbol.dispose]();
  });

  async function run(...args: readonly string[]): Promise<CliResult> {
    return flagkeel([...args, '--url', service.origin, repository.directory], {
      env: { FLAGKEEL_API_KEY: service.key },
    });
  }

  async function dryRun(): Promise<PlanJson> {
    const { stdout } = await run('reconcile', '--dry-run', '--format', 'json');
    return JSON.parse(stdout) as PlanJson;
  }

  function writeConfig(environments: readonly string[], policy = '{}', rest = ''): void {
    const blocks = environments.map((each) => `  ${each}: ${policy}\n`).join('');
    const config = `workspace: Default\n${rest}environments:\n${blocks}`;
    repository.write({ 'flagkeel.yaml': config });
  }

  it('keeps the guards that were applied last, and what left the specs is still known to have been ours', async () => {
    writeConfig([NAMES.staging], '{ guards: { maxDeletes: 1 } }', 'prune: true\n');
    repository.write(flagsIn(NAMES.staging, ['cart', 'menu', 'pay']));
    repository.commit('Add three flags');
    expect(await run('reconcile')).toMatchObject({ code: 0 });

    writeConfig([live.staging], '{ guards: { maxDeletes: 50 } }', 'prune: true\n');
    repository.write(flagsIn(live.staging, ['cart']));
    repository.remove('flags/menu.yaml');
    repository.remove('flags/pay.yaml');
    repository.commit('Call staging by its id, and take two flags away');
    const { changes, withheld, guards } = await dryRun();

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
  });

  it('has its shared key file left alone by drift --adopt', async () => {
    const { staging, production } = live;
    writeConfig([staging, production]);
    const keysFile = '{ keysFile: staff.keys }';
    repository.write({
      'segments/staff.yaml': `segment: staff\ntrafficType: user\nenvironments:\n  ${staging}: ${keysFile}\n  ${production}: ${keysFile}\n`,
      'segments/staff.keys': 'u-1\nu-2\n',
    });
    repository.commit('Add staff');
    expect(await run('reconcile')).toMatchObject({ code: 0 });
    await live.ok('PUT', `/segments/${staging}/staff/upload`, ['u-3']);

    const { stdout } = await run('drift', '--adopt');

    expect(stdout).toContain('Left segment/staff@staging: segments/staff.keys serves other');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('is refused where the config has it by both, and nothing is written', async () => {
    writeConfig([NAMES.staging, live.staging]);
    repository.write(flagsIn(NAMES.staging, ['cart']));
    repository.commit('Have staging twice');
    service.requests.length = 0;

    expect(await run('reconcile')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('flagkeel.yaml has it by its name and by its id') as string,
    });
    expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
