import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

describe('a run that does not reach everything', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;

  beforeEach(async () => {
    const both = (share: number): Record<string, string> => ({
      'flags/alpha.yaml': flagText('alpha', share),
      'flags/beta.yaml': flagText('beta', share),
    });
    scenario.commit({ 'flagkeel.yaml': UNPROTECTED_CONFIG, ...both(10) }, 'Add two flags');
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.commit(both(20), 'Ramp both to 20 %');
  });

  async function plannedReasons(): Promise<string[]> {
    return (await scenario.dryRun()).changes.map(({ id, reason }) => `${id} ${reason}`);
  }

  it('failing half-way, it says what was applied, failed and skipped, and leaves the rest planned as commits', async () => {
    const broken = { method: 'PATCH', path: /\/alpha\/environments\// };
    for (let times = 0; times < 20; times += 1) scenario.service.failNext(broken, 503);

    const run = await reconcile('--format', 'json', '--timeout', '3s');

    const result = JSON.parse(run.stdout) as PlanDocument;
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
    const guarded = PROTECTED_CONFIG.replace('staging: {}', 'staging: { protected: true }');
    const files = { 'flagkeel.yaml': guarded, 'flags/gamma.yaml': flagText('gamma', 30) };
    scenario.commit(files, 'Add gamma');
    const { service } = scenario;
    service.failNext({ method: 'POST', path: /\/gamma\/environments\// }, 'hang');
    const killAfter = async (): Promise<void> => {
      while (service.faultsLeft() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    };

    const killed = await scenario.runWith({ killAfter }, 'reconcile', '--only', 'flag/gamma');

    expect(killed.code).toBeNull();
    expect(await plannedReasons()).toEqual(
      expect.arrayContaining(['flag/gamma@staging commit', 'flag/gamma@production commit']),
    );
    expect(await reconcile('--only', 'flag/gamma')).toMatchObject({ code: 0 });
  });
});
