import { writeFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import {
  appliedWorld,
  flagSpec,
  stateRef,
  textOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { onOff } from '../../support/on-off.js';

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld();
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });
  world.writes();
});

/** While it lies there, git refuses to move the state ref. */
const stateLock = (): string => join(world.repository.directory, '.git', `${stateRef(world)}.lock`);

function lock(): void {
  mkdirSync(dirname(stateLock()), { recursive: true });
  writeFileSync(stateLock(), '');
}

it('sends nothing where the state cannot be written beforehand', async () => {
  world.repository.commit('Add cart', { 'flags/cart.yaml': flagSpec('cart') });
  lock();
  await expect(world.applied()).rejects.toMatchObject({ name: 'FlagkeelError' });
  expect(world.writes()).toEqual([]);
});

it('reports what was done where the state cannot be written afterwards; the next run remembers it', async () => {
  const done = await world.applied({}, { progress: { onStep: lock } });
  expect([...done.outcomes.values()].map(({ status }) => status)).toEqual(['applied', 'applied']);
  expect(done.converged).toBe(true);
  expect(done.unsaved).toBeDefined();
  rmSync(stateLock());
  const next = await world.applied();
  expect(next.plan.changes).toEqual([]);
  expect(next.unsaved).toBeUndefined();
  expect((await world.planned()).remembered.applied).toBe(
    world.repository.git('rev-parse', 'HEAD'),
  );
});

it('waits for a service that shows a write late, and is converged', async () => {
  world.service.showStale(2);
  const done = await world.applied();
  expect(done).toMatchObject({ converged: true, left: [] });
  expect(done.unverified).toBeUndefined();
});

it('finds nothing left of identities that were all written again, though the same run would write all once more', async () => {
  const identities = 'identities: { environment: staging, keys: { ana: { plan: pro } } }\n';
  world.repository.commit('Say who pays', { 'identities/user.yaml': identities });
  await world.applied();
  world.writes();

  const done = await world.applied({ identities: true });

  expect(done.plan.changes.map(({ id }) => id)).toEqual(['identities/user@staging']);
  expect(done).toMatchObject({ converged: true, left: [] });
});

it('names each difference that is left, with what was wanted and what was found', async () => {
  await world.applied();
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 60 }) });
  world.service.failNext({ method: 'PATCH', path: /pay/ }, 404);

  const report = world.reportOf(await world.applied({ environment: ['staging'] }));

  expect(textOf(report)).toContain(`Left after the apply
  ! flag/pay@staging found → wanted
      defaultRule: on 20 → 60 %, off 80 → 40 %
`);
  expect(planMarkdown(report)).toContain('defaultRule: on 20 → 60 %, off 80 → 40 %');
  const fields = [{ path: '/defaultRule', wanted: onOff(60), found: onOff(20) }];
  expect(planDocument(report).left).toEqual([{ id: 'flag/pay@staging', action: 'update', fields }]);
});

it('writes nothing where the plan is not the one that was reviewed', async () => {
  await expect(world.applied({}, { reviewed: 'sha256:other' })).rejects.toMatchObject({
    code: 'PLAN_DIFFERS',
  });
  expect(world.writes()).toEqual([]);
  const { planHash } = await world.planned();
  expect(await world.applied({}, { reviewed: planHash })).toMatchObject({
    converged: true,
  });
});

describe('a refused write of what all environments share', () => {
  const PATH = /\/splits\/ws\/[^/]+\/pay$/;

  it('does not hold up the shares of a flag that exists', async () => {
    const described = `${flagSpec('pay', { on: 20 })}description: Pays\n`;
    world.repository.commit('Describe pay', { 'flags/pay.yaml': described });
    world.service.failNext({ method: 'PATCH', path: PATH }, 403);
    const { outcomes } = await world.applied();
    expect([...outcomes].map(([id, { status }]) => `${id} ${status}`)).toEqual([
      'flag/pay failed',
      'flag/pay@staging applied',
      'flag/pay@production applied',
    ]);
  });

  it('holds up the shares of a flag that it should have made', async () => {
    world.repository.commit('Add cart', { 'flags/cart.yaml': flagSpec('cart') });
    world.service.failNext({ method: 'POST', path: /\/trafficTypes\/user$/ }, 403);
    const { outcomes } = await world.applied();
    expect(outcomes.get('flag/cart')).toMatchObject({ status: 'failed' });
    expect(outcomes.get('flag/cart@staging')).toEqual({
      status: 'skipped',
      why: 'needs flag/cart, which failed',
    });
  });
});
