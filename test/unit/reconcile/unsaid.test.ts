import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/reconcile/result.js';
import type { Applied } from '../../../src/reconcile/context.js';
import {
  appliedWorld,
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  PROTECTED_PIPELINE,
  withheldIn,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { aDefinition } from '../../support/service-calls.js';

/** What one run says, the next does not unsay. */

const HOLDING = PIPELINE_CONFIG.replace(
  'staging: {}',
  'staging: { onDrift: report, onConflict: hold }',
);
const { signal } = new AbortController();

const codeOf = (done: Applied): number => exitCodeOf(done, signal);

/** Runs while somebody does something behind its back, before the first request that writes and that matches. */
async function overtaken(
  world: PipelineWorld,
  path: RegExp,
  meddle: () => Promise<unknown>,
): Promise<Applied> {
  world.service.failNext({ method: 'POST', path }, 'hold');
  let clock = 0;
  // One request at a time, so that nothing is written beside the one that is held. No reading counts as fresh.
  const running = world.applied({ concurrency: 1 }, { now: () => (clock += 60_000) });
  await world.service.held();
  await meddle();
  world.service.release();
  return running;
}

it('a creation that was answered 409 was written over in production by the next run', async () => {
  const world = await pipelineWorld();
  const { live } = world;
  const pay = flagSpec('pay');
  world.repository.commit('Add pay to staging', {
    'flagkeel.yaml': PROTECTED_PIPELINE,
    'flags/pay.yaml': pay.replace(/ {2}production:.*\n/, ''),
  });
  await world.applied();
  world.repository.commit('Add pay to production, and another', {
    'flags/alpha.yaml': flagSpec('alpha'),
    'flags/pay.yaml': pay,
  });

  const first = await overtaken(world, /trafficTypes/, async () => {
    await live.ok('POST', live.at('pay'), aDefinition({ trafficAllocation: 40 }));
  });
  const second = await world.applied();

  expect(first.outcomes.get('flag/pay@production')).toMatchObject({
    status: 'failed',
    error: { status: 409 },
  });
  expect(codeOf(first)).toBe(5);
  expect(withheldIn(second)).toEqual(['flag/pay@production adopt-needed']);
  expect(codeOf(second)).toBe(8);
  expect(await live.definition('pay')).toMatchObject({ trafficAllocation: 40 });
});

it('a change that failed and was then held gave exit code 0 where another was written in the next round', async () => {
  const specs = (on: number): Record<string, string> => ({
    'flagkeel.yaml': HOLDING,
    'flags/alpha.yaml': flagSpec('alpha', { on }),
    'flags/beta.yaml': flagSpec('beta', { on }),
  });
  const world = await appliedWorld(specs(10));
  const { live } = world;
  world.repository.commit('Ramp two, and add one', {
    ...specs(20),
    'flags/aaa.yaml': flagSpec('aaa'),
  });
  const done = await overtaken(world, /trafficTypes/, async () => {
    await live.set('alpha', { on: 0 }, 'staging');
    await live.set('beta', { trafficAllocation: 40 }, 'staging');
  });

  expect(done.outcomes.get('flag/alpha@staging')).toMatchObject({ status: 'failed' });
  expect(done.outcomes.get('flag/beta@staging')).toEqual({ status: 'applied' });
  expect(done).toMatchObject({ converged: false, left: [{ id: 'flag/alpha@staging' }] });
  expect(codeOf(done)).toBe(5);
});

it('what another machine wrote into the state during a run was lost with the next round of that run', async () => {
  const world = await appliedWorld({ 'flagkeel.yaml': HOLDING, 'flags/pay.yaml': flagSpec('pay') });
  const { live, repository } = world;
  repository.commit('Ramp pay, and add another', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
    'flags/aaa.yaml': flagSpec('aaa'),
  });
  const ref = repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel/');
  let theirs = '';

  const done = await overtaken(world, /trafficTypes/, async () => {
    theirs = repository.git('commit-tree', '-m', 'Theirs', '-p', ref, `${ref}~1^{tree}`);
    repository.git('update-ref', ref, theirs);
    await live.set('pay', { trafficAllocation: 40 }, 'staging');
  });

  expect(repository.git('rev-parse', ref)).toBe(theirs);
  expect(done.unsaved).toContain('another run moved');
  expect(codeOf(done)).toBe(5);
});
