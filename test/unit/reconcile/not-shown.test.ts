import { expect, it } from 'vitest';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../support/pipeline-world.js';

it('does not say of a service that shows flags that it does not, where one flag is new', async () => {
  const world = await pipelineWorld();
  world.repository.commit('Add pay', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
  expect((await world.planned()).plan.notCompared).toEqual([]);
  await world.applied();
  world.repository.commit('Add cart', { 'flags/cart.yaml': flagSpec('cart') });

  expect((await world.planned()).plan.notCompared).toEqual([]);
  const touchedSince = 'state';
  expect((await world.planned({ touchedSince })).plan.notCompared).toEqual([]);
});
