import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appliedWorld } from '../../support/pipeline-world.js';

it('adopts of a treatment only what the file says of it, and says nothing of empty texts', async () => {
  const spec = [
    'flag: pay',
    'treatments:',
    '  "on": New',
    '  "off": {}',
    'defaultTreatment: "off"',
    'environments:',
    '  staging:',
    '    treatments:',
    '      "on": New',
    '      "off": {} # old',
    '    defaultRule: "off"',
    '  production:',
    '    defaultRule: "off"',
    '',
  ].join('\n');
  const world = await appliedWorld({ 'flags/pay.yaml': spec });
  const { repository, live } = world;
  const change = async (environment: string, operations: readonly object[]) =>
    live.ok('PATCH', `/splits/ws/${live.id}/pay/environments/${environment}`, operations);
  await change(live.staging, [
    { op: 'replace', path: '/treatments/0/description', value: 'Newer' },
    { op: 'add', path: '/treatments/1/configurations', value: '{}' },
  ]);
  await change(live.production, [
    { op: 'add', path: '/treatments/2', value: { name: 'half', description: '' } },
  ]);

  const run = await world.command('drift', '--adopt');

  expect(run, run.stdout + run.stderr).toMatchObject({ exitCode: 0 });
  expect(run.stdout).not.toContain('description ""');
  expect(readFileSync(join(repository.directory, 'flags/pay.yaml'), 'utf8')).toBe(
    spec
      .replace('      "on": New', '      "on": Newer')
      .replace(
        '  production:\n',
        '  production:\n    treatments:\n      "on": New\n      "off": {}\n      half: {}\n',
      ),
  );
});
