import { expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

it('warns of a branch that does not hold the newest of its target, and of no other', async () => {
  scenario.commit(
    { 'flagkeel.yaml': UNPROTECTED_CONFIG, 'flags/alpha.yaml': flagText('alpha', 10) },
    'Add a flag',
  );
  scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
  scenario.commit({ 'flags/alpha.yaml': flagText('alpha', 25) }, 'Ramp alpha to 25 %');
  for (const since of ['main', 'HEAD~1'])
    expect((await scenario.run('review', '--since', since)).stderr).not.toContain('warning');

  scenario.repository.git('checkout', '--quiet', 'main');
  scenario.commit({ 'README.md': 'more' }, 'Say more');
  scenario.repository.git('checkout', '--quiet', 'ramp');
  const { stderr } = await scenario.run('review', '--since', 'main');
  expect(stderr).toContain('warning: HEAD does not hold the newest of "main"');
});
