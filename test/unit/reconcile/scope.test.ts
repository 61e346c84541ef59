import { beforeEach, expect, it } from 'vitest';
import { RunCache } from '../../../src/reconcile/cache.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

let world: PipelineWorld;
let memory: RunCache;

/** A process that has run once, over three flags. */
beforeEach(async () => {
  world = await pipelineWorld();
  memory = new RunCache();
  world.repository.commit('Three flags', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    ...Object.fromEntries(['a', 'b', 'c'].map((name) => [`flags/${name}.yaml`, flagSpec(name)])),
  });
  const first = await world.applied({ touchedSince: 'memory', memory });
  expect(first.plan.observed).toBe('full');
  world.service.requests.length = 0;
});

/** Names of the flags that were read, one by one or in a list. */
function flagsRead(): string[] {
  const names = world.service.requests.map(
    ({ path }) => /\/splits\/ws\/[^/]+\/([^/]+)/.exec(path)?.[1] ?? '',
  );
  return [...new Set(names)].filter((name) => ['a', 'b', 'c'].includes(name));
}

it('looks at what changed alone, where the process has run before with the same filter', async () => {
  const touchedSince = 'memory';
  world.repository.commit('Ramp b', { 'flags/b.yaml': flagSpec('b', { on: 20 }) });
  const review = await world.planned({ since: 'HEAD~1' });
  expect(review.plan.observed).toBe('touched');
  expect([...(review.input.policy.only ?? [])]).toEqual(['flag/b']);
  world.service.requests.length = 0;

  const done = await world.applied({ touchedSince, memory });
  expect(done.plan.observed).toBe('touched');
  expect(done.plan.changes.map(({ id }) => id)).toEqual(['flag/b@staging', 'flag/b@production']);
  expect(flagsRead()).toEqual(['b']);

  world.repository.commit('Kill c', { 'kills/staging.yaml': 'kills:\n  c: { reason: INC-1 }\n' });
  world.service.requests.length = 0;
  const killed = await world.applied({ touchedSince, memory });
  expect(killed.plan.observed).toBe('touched');
  expect(flagsRead()).toEqual(['c']);
  expect(killed.plan.changes.map(({ id }) => id)).toEqual(['flag/c@staging']);

  for (const settings of [
    { touchedSince, memory, environment: ['staging'] },
    { touchedSince, memory: new RunCache() },
    { memory },
  ] as const) {
    expect((await world.planned(settings)).plan.observed).toBe('full');
  }
});

it('looks again at what the last run did not bring about', async () => {
  world.repository.commit('Ramp b', { 'flags/b.yaml': flagSpec('b', { on: 20 }) });
  world.service.failNext({ method: 'PATCH', path: /\/b\/environments/ }, 404);
  const failed = await world.applied({ touchedSince: 'memory', memory });
  expect(failed.converged).toBe(false);
  expect([...failed.outOfSync]).toEqual(['flag/b']);
  world.service.requests.length = 0;
  const next = await world.applied({ touchedSince: 'memory', memory });
  expect(next).toMatchObject({ converged: true });
  expect(flagsRead()).toEqual(['b']);
});
