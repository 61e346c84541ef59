import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PIPELINE_CONFIG, pipelineWorld } from '../../support/pipeline-world.js';
import { cliRun } from '../../support/terminal.js';

it('adopts of a treatment only what the file says of it, and says nothing of empty texts', async () => {
  const world = await pipelineWorld();
  const { repository, service, live } = world;
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
  repository.commit('Start', { 'flagkeel.yaml': PIPELINE_CONFIG, 'flags/pay.yaml': spec });
  await world.applied();
  const change = async (environment: string, operations: readonly object[]) =>
    live.ok('PATCH', `/splits/ws/${live.id}/pay/environments/${environment}`, operations);
  await change(live.staging, [
    { op: 'replace', path: '/treatments/0/description', value: 'Newer' },
    { op: 'add', path: '/treatments/1/configurations', value: '{}' },
  ]);
  await change(live.production, [
    { op: 'add', path: '/treatments/2', value: { name: 'half', description: '' } },
  ]);
  const url = ['--url', service.origin];
  const key = { FLAGKEEL_API_KEY: service.key };

  const run = await cliRun(['drift', '--adopt', repository.directory, ...url], key);

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
