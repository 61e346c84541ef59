import { expect, it } from 'vitest';
import { appliedWorld, flagSpec } from '../../support/pipeline-world.js';

it('a description that was changed by hand was "In sync" on a service that shows no flag by itself', async () => {
  const described = `${flagSpec('pay')}description: Pays\n`;
  const files = { 'flags/pay.yaml': described, 'flags/plain.yaml': flagSpec('plain') };
  const world = await appliedWorld(files, { strict: true });
  const { live } = world;
  await live.ok('PATCH', `/splits/ws/${live.id}/pay`, [
    { op: 'replace', path: '/description', value: 'by hand' },
  ]);

  const text = await world.command('reconcile');
  const json = await world.command('reconcile', '--dry-run', '--format', 'json');
  const drift = await world.command('drift');
  const markdown = await world.command('reconcile', '--dry-run', '--format', 'markdown');

  const notCompared =
    'This service does not show flags by themselves, so what their files say at the top was not compared: flag/pay.';
  expect(text.stdout).toContain('In sync as far as was compared:');
  expect(text.stdout).toContain(notCompared);
  expect(JSON.parse(json.stdout)).toMatchObject({
    changes: [],
    withheld: [],
    notCompared: [{ id: 'flag/pay', what: 'fields', why: 'not-shown' }],
  });
  expect(drift).toMatchObject({ exitCode: 0 });
  expect(drift.stdout).toContain(notCompared);
  expect(drift.stdout).toContain('No drift as far as was compared:');
  expect(markdown.stdout).toContain('does not show flags by themselves');
});
