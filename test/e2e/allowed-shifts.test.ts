import { beforeEach, describe, expect, it } from 'vitest';
import { forget } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = `workspace: Default
environments:
  production: { protected: true, guards: { maxShift: 20 } }
`;
const ALLOW = 'allow: [{ guard: maxShift, reason: "sale starts at noon" }], ';

const flag = (percent: number, said = ''): string => flagText('pay', percent, { production: said });

describe('a shift that is larger than the limit', () => {
  const scenario = useScenario();
  const { reconcile, dryRun } = scenario;

  beforeEach(async () => {
    scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': flag(10) }, 'Add pay');
    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });
  });

  function commit(text: string, subject: string): void {
    scenario.commit({ 'flags/pay.yaml': text }, subject);
  }

  it('passes by an allow that comes with it and has a reason, and by none that stood there before', async () => {
    commit(flag(10, ALLOW), 'Allow a shift some day');
    expect(await reconcile()).toMatchObject({ code: 0 });
    commit(flag(90, ALLOW), 'Ramp to 90 %');
    expect(await dryRun()).toMatchObject({ code: 4, guards: [{ spentAllow: true }] });

    commit(flag(50, 'allow: [{ guard: maxShift, reason: " " }], '), 'Ramp to 50 %');
    const unreasoned = await reconcile('--dry-run');
    expect(unreasoned.code).toBe(3);
    expect(unreasoned.stdout).toContain('reason');

    commit(flag(10), 'Allow nothing');
    expect(await reconcile()).toMatchObject({ code: 0 });
    commit(flag(50, ALLOW), 'Ramp to 50 %');
    const { allowed, code } = await dryRun();
    expect(code).toBe(0);
    expect(allowed).toEqual([
      {
        guard: 'maxShift',
        environment: 'production',
        id: 'flag/pay@production',
        found: 40,
        limit: 20,
        reason: 'sale starts at noon',
      },
    ]);
    const applied = await reconcile();
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.stdout).toContain('(maxShift), allowed: sale starts at noon');

    commit(flag(100, ALLOW), 'Ramp to 100 %');
    const next = await dryRun();
    expect(next.code).toBe(4);
    expect(next.guards).toMatchObject([{ guard: 'maxShift', found: 50, spentAllow: true }]);
    expect(next.allowed).toBeUndefined();
  });

  it('is new without a memory where this push brought it, and refused after the next push', async () => {
    commit(flag(50, ALLOW), 'Ramp to 50 %');
    forget(scenario);

    expect(await dryRun('--adopt')).toMatchObject({ code: 0 });
    scenario.commit({ 'README.md': 'Flags.\n' }, 'Say what this is');
    expect(await dryRun('--adopt')).toMatchObject({ code: 4, guards: [{ spentAllow: true }] });
    expect(await dryRun('--adopt', '--since', 'HEAD~2')).toMatchObject({ code: 0 });
  });
});
