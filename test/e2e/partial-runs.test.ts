import { expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

it('a run that was killed after its first creation leaves a half-made object that is known as its own', async () => {
  const guarded = PROTECTED_CONFIG.replace('staging: {}', 'staging: { protected: true }');
  scenario.commit({ 'flagkeel.yaml': guarded }, 'Begin');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  scenario.commit({ 'flags/gamma.yaml': flagText('gamma', 30) }, 'Add gamma');
  const { service } = scenario;
  service.failNext({ method: 'POST', path: /\/gamma\/environments\// }, 'hang');
  const killAfter = async (): Promise<void> => {
    while (service.faultsLeft() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  const killed = await scenario.runWith({ killAfter }, 'reconcile');

  expect(killed.code).toBeNull();
  const { changes } = await scenario.dryRun();
  expect(changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual(
    expect.arrayContaining(['flag/gamma@staging commit', 'flag/gamma@production commit']),
  );
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
});
