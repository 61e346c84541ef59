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

  it('survives a squash and what was merged meanwhile, which waits', async () => {
    scenario.repository.git('merge', '--quiet', '--squash', 'ramp');
    scenario.repository.commit('Ramp alpha (squashed)');

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

  it('survives a merge that keeps its commits, and shows nothing of what the branch got after it', async () => {
    scenario.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge ramp', 'ramp');
    const run = await reconcile('--since', 'HEAD^1', '--plan', file);
    expect(run, run.stderr).toMatchObject({ code: 8 });
    expect(scenario.writes()).toHaveLength(2);

    const more = {
      'flags/alpha.yaml': flagText('alpha', 90),
      'flags/gamma.yaml': flagText('gamma', 1),
    };
    scenario.commit(more, 'Go on');
    const held = await reconcile('--since', 'HEAD~2', '--plan', file);
    expect(held, held.stderr).toMatchObject({ code: 8 });
    expect(held.stdout).toContain('flag/gamma');
    expect(held.stdout).toContain('flag/alpha@production');
    expect(scenario.writes()).toHaveLength(2);
  });

  it('is one file that can be trusted, named in one way', async () => {
    const plan = readFileSync(file, 'utf8');
    for (const [text, message] of [
      ['{', /cannot read .*plan\.json as a plan/],
      ['{"formatVersion": 1}', /"planHash" is absent or wrong/],
      [`${'['.repeat(9_000)}${']'.repeat(9_000)}`, /nested too deeply/],
      [`[${plan},${plan}]`, /holds 2 plans, for 1 directories/],
    ] as const) {
      writeFileSync(file, text);
      const run = await reconcile('--plan', file);
      expect(run.code, text.slice(0, 30)).toBe(64);
      expect(run.stderr).toMatch(message);
    }
    writeFileSync(file, plan);
    const twice = ['--plan', file, '--plan-hash', `sha256:${'0'.repeat(64)}`];
    expect(await reconcile(...twice)).toMatchObject({ code: 64 });
    expect(scenario.service.requests).toEqual([]);
  });
});
