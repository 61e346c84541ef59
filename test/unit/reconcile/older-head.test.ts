import { beforeEach, expect, it } from 'vitest';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

let world: PipelineWorld;
let older: string;

/** A newer commit than the one that is checked out was applied. */
beforeEach(async () => {
  world = await pipelineWorld();
  older = world.repository.commit('Add pay, and kill it', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    'kills/production.yaml': 'kills:\n  pay: { reason: INC-1 }\n',
  });
  world.repository.commit('Ramp pay, and bring it back', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
    'kills/production.yaml': 'kills: {}\n',
  });
  await world.applied();
  world.repository.git('checkout', '--quiet', older);
  world.writes();
});

it('refuses a HEAD that an earlier run has gone beyond, its kills included', async () => {
  await expect(world.applied()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  await expect(world.planned()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  expect(world.writes()).toEqual([]);
});

it('goes back where the operator allows it', async () => {
  const done = await world.applied({ allowOlder: true });
  expect(done.converged).toBe(true);
  expect(done.kills.killed).toEqual(new Set(['flag/pay@production']));
  expect(done.plan.changes.map(({ id }) => id)).toEqual([
    'flag/pay@staging',
    'flag/pay@production',
  ]);
});

it('goes on from a commit beside the applied one', async () => {
  world.repository.commit('Another way', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  expect(await world.applied()).toMatchObject({ converged: true });
});
