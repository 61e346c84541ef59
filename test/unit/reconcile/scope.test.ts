import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { RunCache } from '../../../src/reconcile/context.js';
import { CountedGit } from '../../support/counted-git.js';
import { makeDirectory } from '../../support/git.js';
import {
  flagSpec,
  killList,
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

  world.repository.commit('Kill c', killList('{ c: { reason: INC-1 } }', 'staging'));
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

it('asks for the place, a few questions for each object that was touched, and git little', async () => {
  const settings = { touchedSince: 'memory', memory } as const;
  // On a busy machine what was read would be too old to be written over, and be read again.
  const started = Date.now();
  const cycle = async () => {
    world.service.requests.length = 0;
    return world.applied(settings, { now: () => started });
  };
  expect((await cycle()).plan).toMatchObject({ observed: 'touched', changes: [] });
  const asked = world.service.requests.map(({ method, path }) => {
    return `${method} ${path.split('/')[4] ?? ''}`;
  });
  expect(asked).toEqual(['GET workspaces', 'GET environments']);

  const ramped = flagSpec('b', { on: 50 }).replace('treatments', 'description: B\ntreatments');
  world.repository.commit('Ramp b', { 'flags/b.yaml': ramped });
  expect((await cycle()).plan.changes).toHaveLength(3);
  const { requests } = world.service;
  expect(requests.findIndex(({ method }) => method !== 'GET')).toBeLessThanOrEqual(6);
  expect(requests.length).toBeLessThanOrEqual(5 + 3 + 3);

  world.repository.commit('Ramp c', { 'flags/c.yaml': flagSpec('c', { on: 50 }) });
  const git = new CountedGit(join(makeDirectory(), 'bin'));
  vi.stubEnv('PATH', git.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await cycle()).plan.changes).toHaveLength(2);
  const commands = ['cat-file', 'diff-tree', 'log', 'fast-import', 'update-ref'];
  expect(git.take()).toEqual(commands);
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

  // A difference that is held, which no commit and no base shows.
  await world.live.set('a', { trafficAllocation: 50 });
  await world.applied({ memory });
  world.service.requests.length = 0;
  const held = await world.applied({ touchedSince: 'memory', memory });
  expect(held.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);
  expect(flagsRead()).toEqual(['a']);
});

it('goes on to tell of keys that were swapped by hand, although their number is the same', async () => {
  const segment = 'segment: vip\nenvironments:\n  production: { keys: [ana, bo] }\n';
  world.repository.commit('Add vip', { 'segments/vip.yaml': segment });
  await world.applied({ memory });
  const place = `/segments/${world.live.production}/vip`;
  await world.live.ok('PUT', `${place}/removeKeys`, { keys: ['bo'], comment: '' });
  await world.live.ok('PUT', `${place}/upload`, ['eve']);
  const told = ['segment/vip@production'];
  expect((await world.applied({ memory })).plan.withheld.map(({ id }) => id)).toEqual(told);

  world.repository.commit('Ramp b', { 'flags/b.yaml': flagSpec('b', { on: 20 }) });
  const touched = await world.applied({ touchedSince: 'memory', memory });

  expect(touched.plan.observed).toBe('touched');
  expect(touched.plan.withheld.map(({ id }) => id)).toEqual(told);
  expect([...touched.outOfSync]).toEqual(['segment/vip']);
});
