import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flaghoist, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG =
  'workspace: Default\nenvironments:\n  staging: {}\n  production: { protected: false }\n';

function flag(name: string, percent: number): string {
  return `flag: ${name}
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${percent}, "off": rest } }
  production: { defaultRule: { "on": ${percent}, "off": rest } }
`;
}

interface PlanJson {
  readonly planHash: string;
  readonly changes: { id: string; outcome?: string }[];
  readonly withheld: { id: string; why: string }[];
}

describe('a reviewed plan', () => {
  let repository: ConfigRepository;
  let service: TestService;
  let file: string;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
    file = join(repository.directory, '.git', 'plan.json');
    repository.write({
      'flaghoist.yaml': CONFIG,
      'flags/alpha.yaml': flag('alpha', 10),
      'flags/beta.yaml': flag('beta', 10),
    });
    repository.commit('Add two flags');
    expect(await reconcile()).toMatchObject({ code: 0 });
    repository.git('checkout', '--quiet', '-b', 'ramp');
    repository.write({ 'flags/alpha.yaml': flag('alpha', 20) });
    repository.commit('Ramp alpha');
    expect(
      await reconcile('--dry-run', '--since', 'main', '--format', 'json', '--output', file),
      '',
    ).toMatchObject({ code: 0 });
    repository.git('checkout', '--quiet', 'main');
    repository.write({ 'flags/beta.yaml': flag('beta', 30) });
    repository.commit('Ramp beta meanwhile');
    service.requests.length = 0;
  });

  afterEach(async () => {
    await service.stop();
    repository[Symbol.dispose]();
  });

  async function reconcile(...args: readonly string[]): Promise<CliResult> {
    return flaghoist(['reconcile', ...args, '--url', service.origin, repository.directory], {
      env: { FLAGHOIST_API_KEY: service.key },
    });
  }

  function squash(): void {
    repository.git('merge', '--quiet', '--squash', 'ramp');
    repository.commit('Ramp alpha (squashed)');
  }

  function writes(): string[] {
    return service.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path);
  }

  it('survives a squash and what was merged meanwhile, which waits', async () => {
    squash();

    const run = await reconcile('--since', 'HEAD~1', '--plan', file, '--format', 'json');

    const done = JSON.parse(run.stdout) as PlanJson;
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(done.changes.map(({ id, outcome }) => `${id} ${outcome ?? ''}`)).toEqual([
      'flag/alpha@staging applied',
      'flag/alpha@production applied',
    ]);
    expect(done.withheld.map(({ id, why }) => `${id} ${why}`)).toEqual([
      'flag/beta@production not-reviewed',
      'flag/beta@staging not-reviewed',
    ]);
    const rest = JSON.parse((await reconcile('--format', 'json')).stdout) as PlanJson;
    expect(rest.changes.map(({ id }) => id)).toEqual(['flag/beta@staging', 'flag/beta@production']);
  });

  it('survives a merge', async () => {
    repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge ramp', 'ramp');

    const run = await reconcile('--since', 'HEAD^1', '--plan', file);

    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(writes()).toHaveLength(2);
  });

  it('is refused when the branch went on, and it is said how: exit 7, the plan of now, no write', async () => {
    squash();
    repository.write({
      'flags/alpha.yaml': flag('alpha', 90),
      'flags/gamma.yaml': flag('gamma', 1),
    });
    repository.commit('Go on');

    const run = await reconcile('--since', 'HEAD~2', '--plan', file);

    expect(run.code).toBe(7);
    expect(run.stderr).toContain('not in the reviewed plan: flag/gamma, flag/gamma@staging');
    expect(run.stderr).toContain('planned otherwise: flag/alpha@staging, flag/alpha@production');
    expect(run.stdout).toContain('flag/gamma will be created');
    expect(writes()).toEqual([]);
    // A dry run says so as well.
    expect(await reconcile('--dry-run', '--since', 'HEAD~2', '--plan', file)).toMatchObject({
      code: 7,
    });
  });

  it.each([
    ['no JSON', '{', /cannot read .*plan\.json as a plan/],
    ['no plan', '{"formatVersion": 1}', /"planHash" is absent or wrong/],
    ['too deep', `${'['.repeat(9_000)}${']'.repeat(9_000)}`, /nested too deeply/],
    ['two plans for one directory', null, /holds 2 plans, for 1 directories/],
  ])('is a file that cannot be trusted: %s', async (_, text, message) => {
    const plan = readFileSync(file, 'utf8');
    writeFileSync(file, text ?? `[${plan},${plan}]`);

    const run = await reconcile('--plan', file);

    expect(run.code).toBe(64);
    expect(run.stderr).toMatch(message);
    expect(service.requests).toEqual([]);
  });

  it('is named in one way: --plan and --plan-hash together are refused', async () => {
    const run = await reconcile('--plan', file, '--plan-hash', `sha256:${'0'.repeat(64)}`);

    expect(run.code).toBe(64);
    expect(service.requests).toEqual([]);
  });
});
