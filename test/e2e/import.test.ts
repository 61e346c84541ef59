import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flaghoist, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { liveWorkspace, makeByHand } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG = `workspace: Default
environments:
  staging: {}
  production: { protected: true }
`;

const CHECKOUT = `flag: checkout
description: |-
  Words: "checkout" # of
    the old days
trafficType: user
rolloutStatus: Pre-Production
treatments:
  "on":
    description: new
    configuration:
      steps: 3
      "on":
        - "1e5"
  "off": old
defaultTreatment: "off"
baselineTreatment: "off"
environments:
  staging:
    targets:
      "on": [q]
    defaultRule: "off"
  production:
    treatments:
      "on": new
      "off": old
    killed: true
    trafficAllocation: 40
    rules:
      - if: { segment: beta }
        serve: "on"
      - if: { flag: cart, treatments: ["off"], not: true }
        serve: "on"
      - if: { matcher: { type: EQUAL_TO_SEMVER, attribute: version, string: "1.10" } }
        serve: "on"
    defaultRule: [{ "off": 90 }, { "on": 10 }]
`;

describe('import', () => {
  let repository: ConfigRepository;
  let service: TestService;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
  });

  afterEach(async () => {
    await service.stop();
    repository[Symbol.dispose]();
  });

  async function run(...args: readonly string[]): Promise<CliResult> {
    return flaghoist([...args, '--url', service.origin], {
      cwd: repository.directory,
      env: { FLAGHOIST_API_KEY: service.key },
    });
  }

  function text(path: string): string {
    return readFileSync(join(repository.directory, path), 'utf8');
  }

  it('says everything that is live, so that the next plan is empty and writes nothing', async () => {
    await makeByHand(await liveWorkspace(service));
    service.requests.length = 0;

    const imported = await run('import');

    expect(imported, imported.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout).toContain(
      'Imported workspace "Default" (staging, production): 2 flags, 2 segments, 6 files.',
    );
    expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(text('flaghoist.yaml')).toBe(CONFIG);
    expect(text('flags/checkout.yaml')).toBe(CHECKOUT);
    expect(text('segments/staff.yaml')).toContain('staging: { keys: ["0012", "null", u-7] }');
    expect(text('segments/beta.production.keys').split('\n')).toHaveLength(61);
    repository.commit('Take what is live under git');
    const plan = await run('reconcile', '--dry-run', '--detailed-exitcode');
    expect(plan, plan.stdout + plan.stderr).toMatchObject({ code: 0 });
    const applied = await run('reconcile');
    expect(applied, applied.stdout + applied.stderr).toMatchObject({ code: 0 });
    expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('gives the same bytes again, in another directory and over the first', async () => {
    await makeByHand(await liveWorkspace(service));
    await run('import');
    const first = readdirSync(repository.directory, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(yaml|keys)$/.test(path))
      .map((path) => [path, text(path)] as const);
    repository.write({ 'flags/folder/gone.yaml': 'flag: gone\n', 'kills/production.yaml': '' });
    repository.commit('Add a flag that is not live');

    const again = await run('import', '--overwrite');
    const elsewhere = await run('import', 'below/new');

    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect(elsewhere, elsewhere.stderr).toMatchObject({ code: 0 });
    for (const [path, content] of first) {
      expect(text(path)).toBe(content);
      expect(text(`below/new/${path}`)).toBe(content);
    }
    expect(existsSync(join(repository.directory, 'flags/folder'))).toBe(false);
    expect(existsSync(join(repository.directory, 'kills/production.yaml'))).toBe(true);
    expect(readdirSync(repository.directory).filter((name) => name.includes('import-'))).toEqual(
      [],
    );
  });

  it('leaves a directory alone that has specs, and replaces nothing that git does not have', async () => {
    repository.write({ 'flaghoist.yaml': CONFIG });

    const refused = await run('import');
    const uncommitted = await run('import', '--overwrite');

    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('it has flaghoist.yaml already (replace it with --overwrite)');
    expect(uncommitted.code).toBe(1);
    expect(uncommitted.stderr).toContain('would replace what git does not have: flaghoist.yaml');
    expect(text('flaghoist.yaml')).toBe(CONFIG);
  });

  it('takes one environment where it is asked for one, and names what lives elsewhere', async () => {
    await makeByHand(await liveWorkspace(service));

    const imported = await run('import', '--environment', 'production', '--only', 'flag/checkout');

    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    expect(text('flaghoist.yaml')).toBe(`workspace: Default
environments:
  production: { protected: true }
references:
  segments:
    - beta
  flags:
    - cart
`);
    expect(text('flags/checkout.yaml')).not.toContain('staging');
  });

  it('says that a service without a list of flags has to be told their names', async () => {
    await service.stop();
    service = await startTestService({ strict: true });
    await makeByHand(await liveWorkspace(service));

    const all = await run('import');
    const named = await run('import', '--only', 'flag/cart', '--only', 'segment/beta');

    expect(all.code).toBe(6);
    expect(all.stderr).toContain('the service has no list of its flags (name them: --only');
    expect(named, named.stderr).toMatchObject({ code: 0 });
    expect(text('flags/cart.yaml')).toContain('flag: cart\ntrafficType: user\ntreatments:');
  });

  it('asks which workspace where there are several, and imports none that is not there', async () => {
    await service.stop();
    const workspace = { environments: [{ name: 'production' }], trafficTypes: ['user'] };
    service = await startTestService({
      seed: {
        workspaces: [
          { ...workspace, name: 'One' },
          { ...workspace, name: 'Two' },
        ],
      },
    });

    const unclear = await run('import');
    const unknown = await run('import', '--workspace', 'Three');
    const two = await run('import', '--workspace', 'Two');

    expect(unclear.code).toBe(6);
    expect(unclear.stderr).toContain('the key sees "One", "Two" (name one with --workspace)');
    expect(unknown.code).toBe(6);
    expect(two, two.stderr).toMatchObject({ code: 0 });
    expect(text('flaghoist.yaml')).toContain('workspace: Two\n');
  });
});
