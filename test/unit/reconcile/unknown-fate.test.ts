import { expect, it } from 'vitest';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../support/pipeline-world.js';
import { cliRun } from '../../support/terminal.js';

const SEGMENT = `segment: beta
environments:
  production: { keys: [ana] }
`;

it('tells a write that was made, though its answer was lost and the service was away from then on', async () => {
  const world = await pipelineWorld();
  world.repository.commit('Add beta', {
    'flaghoist.yaml': PIPELINE_CONFIG,
    'segments/beta.yaml': SEGMENT,
  });
  expect((await world.applied()).converged).toBe(true);
  world.repository.commit('Let ben in', {
    'segments/beta.yaml': SEGMENT.replace('ana', 'ana, ben'),
  });
  const upload = { method: 'PUT', path: /\/beta\// };
  world.service.failNext(upload, 'reset-after');
  for (let tries = 0; tries < 40; tries += 1) world.service.failNext(upload, 503);

  const done = await world.applied({ timeout: 3_000 });

  expect(done.converged).toBe(true);
  expect(done.outcomes.get('segment/beta@production')).toMatchObject({ status: 'applied' });
});

it('tells a kill that was made, though nobody answered it', async () => {
  const world = await pipelineWorld();
  const { repository, service } = world;
  repository.commit('Add pay', {
    'flaghoist.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
  await world.applied();
  repository.commit('Kill pay', {
    'kills/production.yaml': 'kills:\n  pay: { reason: INC-1 }\n',
  });
  const kill = { method: 'PATCH', path: /\/pay\// };
  service.failNext(kill, 'reset-after');
  for (let tries = 0; tries < 40; tries += 1) service.failNext(kill, 503);

  const done = await world.applied({ timeout: 3_000 });

  expect(done.kills.results.get('flag/pay@production')).toMatchObject({ status: 'failed' });
  const args = ['history', 'flag/pay', repository.directory, '--url', service.origin];
  const { stdout } = await cliRun(args, { FLAGHOIST_API_KEY: service.key });
  expect(stdout).toMatch(/failed kill .*flag\/pay@production: Kill pay/);
});
