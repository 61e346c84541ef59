import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

interface PlanJson {
  readonly changes: { id: string; reason: string; outcome?: string }[];
  readonly converged?: boolean;
}

describe('a run that does not reach everything', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;

  beforeEach(async () => {
    scenario.commit(
      {
        'flagkeel.yaml': UNPROTECTED_CONFIG,
        'flags/alpha.yaml': flagText('alpha', 10),
        'flags/beta.yaml': flagText('beta', 10),
      },
      'Add two flags',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.commit(
      {
        'flags/alpha.yaml': flagText('alpha', 20),
        'flags/beta.yaml': flagText('beta', 20),
      },
      'Ramp both to 20 %',
    );
  });

  async function plannedReasons(): Promise<string[]> {
    return (await scenario.dryRun<PlanJson>()).changes.map(({ id, reason }) => `${id} ${reason}`);
  }

  it('failing half-way, it says what was applied, failed and skipped, and leaves the rest planned as commits', async () => {
    const broken = { method: 'PATCH', path: /\/alpha\/environments\// };
    for (let times = 0; times < 20; times += 1) scenario.service.failNext(broken, 503);

    const run = await reconcile('--format', 'json', '--timeout', '3s');

    const result = JSON.parse(run.stdout) as PlanJson;
    expect(run.code).toBe(5);
    expect(result.converged).toBe(false);
    expect(result.changes.map(({ id, outcome }) => `${id} ${outcome ?? ''}`)).toEqual([
      'flag/alpha@staging failed',
      'flag/beta@staging applied',
      'flag/alpha@production skipped',
      'flag/beta@production applied',
    ]);
    expect(await plannedReasons()).toEqual([
      'flag/alpha@staging commit',
      'flag/alpha@production commit',
    ]);
  });

  it('killed after its first creation, it leaves a half-made object that is known as its own', async () => {
    const guarded = UNPROTECTED_CONFIG.replace('protected: false', 'protected: true').replace(
      'staging: {}',
      'staging: { protected: true }',
    );
    scenario.commit(
      {
        'flagkeel.yaml': guarded,
        'flags/gamma.yaml': flagText('gamma', 30),
      },
      'Add gamma',
    );
    const half = { method: 'POST', path: /\/gamma\/environments\// };
    scenario.service.failNext(half, 'hang');

    const killed = await scenario.runWith(
      {
        env: scenario.env,
        killAfter: async () => {
          while (scenario.service.faultsLeft() > 0) await tick();
        },
      },
      'reconcile',
      '--only',
      'flag/gamma',
    );

    expect(killed.code).toBeNull();
    expect(await plannedReasons()).toEqual(
      expect.arrayContaining(['flag/gamma@staging commit', 'flag/gamma@production commit']),
    );
    expect(await reconcile('--only', 'flag/gamma')).toMatchObject({ code: 0 });
  });
});

async function tick(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
