import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

interface PlanJson {
  readonly planHash: string;
  readonly changes: { id: string; outcome?: string }[];
  readonly withheld: { id: string; why: string }[];
}

describe('a reviewed plan', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;
  let file: string;

  beforeEach(async () => {
    file = join(scenario.repository.directory, '.git', 'plan.json');
    scenario.commit(
      {
        'flagkeel.yaml': UNPROTECTED_CONFIG,
        'flags/alpha.yaml': flagText('alpha', 10),
        'flags/beta.yaml': flagText('beta', 10),
      },
      'Add two flags',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
    scenario.commit({ 'flags/alpha.yaml': flagText('alpha', 20) }, 'Ramp alpha');
    expect(
      await reconcile('--dry-run', '--since', 'main', '--format', 'json', '--output', file),
      '',
    ).toMatchObject({ code: 0 });
    scenario.repository.git('checkout', '--quiet', 'main');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 30) }, 'Ramp beta meanwhile');
    scenario.service.requests.length = 0;
  });

  function squash(): void {
    scenario.repository.git('merge', '--quiet', '--squash', 'ramp');
    scenario.repository.commit('Ramp alpha (squashed)');
  }

  function writes(): string[] {
    return scenario.service.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ path }) => path);
  }

  it('survives a squash and what was merged meanwhile, which waits', async () => {
    squash();

    const run = await reconcile('--since', 'HEAD~1', '--plan', file, '--format', 'json');

    const done = JSON.parse(run.stdout) as PlanJson;
    // What waits is a change that no reviewed plan showed.
    expect(run, run.stderr).toMatchObject({ code: 8 });
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
    scenario.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge ramp', 'ramp');

    const run = await reconcile('--since', 'HEAD^1', '--plan', file);

    expect(run, run.stderr).toMatchObject({ code: 8 });
    expect(writes()).toHaveLength(2);
  });

  it('holds what it did not show when the branch went on, without a write', async () => {
    squash();
    scenario.commit(
      {
        'flags/alpha.yaml': flagText('alpha', 90),
        'flags/gamma.yaml': flagText('gamma', 1),
      },
      'Go on',
    );

    const run = await reconcile('--since', 'HEAD~2', '--plan', file);

    expect(run, run.stderr).toMatchObject({ code: 8 });
    expect(run.stdout).toContain('flag/gamma');
    expect(run.stdout).toContain('flag/alpha@production');
    expect(writes()).toEqual([]);
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
    expect(scenario.service.requests).toEqual([]);
  });

  it('is named in one way: --plan and --plan-hash together are refused', async () => {
    const run = await reconcile('--plan', file, '--plan-hash', `sha256:${'0'.repeat(64)}`);

    expect(run.code).toBe(64);
    expect(scenario.service.requests).toEqual([]);
  });
});
