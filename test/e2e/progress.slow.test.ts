import { expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

it('progress is lines of a log with --log-format json', async () => {
  const alpha = flagText('alpha', 10, { staging: '' });
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/alpha.yaml': alpha }, 'Add alpha');
  let isLimiting = true;
  scenario.service.failAtRandom(() => (isLimiting ? 429 : undefined));
  const run = scenario.start('reconcile', '--log-format', 'json');
  await run.says('"phase":"look"');
  isLimiting = false;

  const lines = (await run.ended).stderr.trim().split('\n');

  const told = lines.map((line) => JSON.parse(line) as object);
  expect(told).toContainEqual(expect.objectContaining({ level: 'info', phase: 'look', total: 0 }));
});
