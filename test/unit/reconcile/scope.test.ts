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

it('looks at what changed alone, where the process has run before', async () => {
  world.repository.commit('Ramp b', { 'flags/b.yaml': flagSpec('b', { on: 20 }) });
  const done = await world.applied({ touchedSince: 'memory', memory });
  expect(done.plan.observed).toBe('touched');
  expect(done.plan.changes.map(({ id }) => id)).toEqual(['flag/b@staging', 'flag/b@production']);
  expect(flagsRead()).toEqual(['b']);
});

it('looks at everything where nobody asked for less, and where the process knows nothing', async () => {
  expect((await world.planned({ memory })).plan.observed).toBe('full');
  expect(
    (await world.planned({ touchedSince: 'memory', memory: new RunCache() })).plan.observed,
  ).toBe('full');
});

it('looks at everything where the filter is another than that of the last run', async () => {
  const settings = { touchedSince: 'memory', memory, environment: ['staging'] } as const;
  expect((await world.planned(settings)).plan.observed).toBe('full');
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

it('looks at what a kill is about, of whichever flag', async () => {
  world.repository.commit('Kill c', { 'kills/staging.yaml': 'kills:\n  c: { reason: INC-1 }\n' });
  const done = await world.applied({ touchedSince: 'memory', memory });
  expect(done.plan.observed).toBe('touched');
  expect(flagsRead()).toEqual(['c']);
  expect(done.plan.changes.map(({ id }) => id)).toEqual(['flag/c@staging']);
});

it('looks in a dry run at what the review is about, without any earlier run', async () => {
  world.repository.commit('Ramp b', { 'flags/b.yaml': flagSpec('b', { on: 20 }) });
  const planned = await world.planned({ since: 'HEAD~1' });
  expect(planned.plan.observed).toBe('touched');
  expect([...(planned.input.policy.only ?? [])]).toEqual(['flag/b']);
});
