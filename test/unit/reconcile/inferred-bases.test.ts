import { beforeEach, expect, it } from 'vitest';
import type { Applied, Planned } from '../../../src/reconcile/context.js';
import {
  flagSpec,
  forget,
  PIPELINE_CONFIG,
  pipelineWorld,
  withheldIn,
  type PipelineWorld,
  type RunSettings,
} from '../../support/pipeline-world.js';

const PAY = 'flag/pay@production';

let world: PipelineWorld;
let added: string;

/** A flag is live, production is protected, and no run remembers anything of it. */
beforeEach(async () => {
  world = await pipelineWorld();
  added = world.repository.commit('Add pay', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
  await world.applied();
  forget(world);
});

function ramp(on: number): void {
  world.repository.commit(`Ramp pay to ${on} %`, { 'flags/pay.yaml': flagSpec('pay', { on }) });
}

function changesOf({ plan, notes }: Planned): string[] {
  return plan.changes
    .filter(({ ref }) => ref.environment === 'production')
    .map(({ id, reason }) => `${id} ${reason}: ${notes.get(id)?.title ?? ''}`);
}

it('where no run remembers anything an older push undoes no rollback, and what --since names is the push at hand, all of its commits', async () => {
  ramp(20);
  ramp(30);
  expect(withheldIn(await world.applied())).toEqual([`${PAY} adopt-needed`]);

  forget(world);
  const done = await world.applied({ since: added });

  expect(changesOf(done)).toEqual([`${PAY} commit: Ramp pay to 30 % (+1 more)`]);
  expect(withheldIn(done)).toEqual([]);
});

it('where the checkout cannot be written the newest commit undoes no rollback in a protected environment, but the push that --since names is applied', async () => {
  /** The account of the tests may write everything. */
  const statelessRun = async (settings: RunSettings = {}): Promise<Applied> => {
    const noHome = async () => Promise.resolve(null);
    const homes = { openState: noHome, peekState: noHome, openRecords: noHome };
    return world.applied(settings, {}, () => homes);
  };
  ramp(20);
  await world.live.set('pay', { on: 20 });
  await world.live.set('pay', { on: 10 });
  const done = await statelessRun();

  expect(await world.live.share('pay')).toBe(10);
  expect(withheldIn(done)).toEqual([`${PAY} adopt-needed`]);
  expect(done.plan.withheld[0]?.reason).toBe('unknown');
  // Where nothing is protected the newest commit goes out, with its words.
  expect(done.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
    'flag/pay@staging commit',
  ]);
  const named = await statelessRun({ since: added });
  expect(changesOf(named)).toEqual([`${PAY} commit: Ramp pay to 20 %`]);
  expect(await world.live.share('pay')).toBe(20);
});
