import { beforeEach, describe, expect, it } from 'vitest';
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
const segment = (...keys: readonly string[]): string =>
  `segment: beta\nenvironments: { production: { keys: [${keys.join(', ')}] } }\n`;

let world: PipelineWorld;
let added: string;

/** Two flags and a segment are live, production is protected, and no run remembers anything of it. */
beforeEach(async () => {
  world = await pipelineWorld();
  added = world.repository.commit('Add all', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/cart.yaml': flagSpec('cart'),
    'flags/pay.yaml': flagSpec('pay'),
    'segments/beta.yaml': segment('u-1', 'u-2'),
  });
  await world.applied();
  forget(world);
});

function ramp(flag: string, on: number): string {
  const file = { [`flags/${flag}.yaml`]: flagSpec(flag, { on }) };
  return world.repository.commit(`Ramp ${flag} to ${on} %`, file);
}

function changesOf({ plan, notes }: Planned): string[] {
  return plan.changes
    .filter(({ ref }) => ref.environment === 'production')
    .map(({ id, reason }) => `${id} ${reason}: ${notes.get(id)?.title ?? ''}`);
}

describe('where no run remembers anything', () => {
  it('applies what the newest commit changed, with its words, where the service has what was before it', async () => {
    ramp('pay', 20);
    const done = await world.applied();

    expect(changesOf(done)).toEqual([`${PAY} commit: Ramp pay to 20 %`]);
    expect(withheldIn(done)).toEqual([]);
    expect(done.converged).toBe(true);
    expect((await world.planned()).plan.changes).toEqual([]);

    forget(world);
    world.repository.commit('Add u-3', { 'segments/beta.yaml': segment('u-1', 'u-3') });
    const keys = await world.applied();

    expect(changesOf(keys)).toEqual(['segment/beta@production commit: Add u-3']);
    expect(keys.converged).toBe(true);
  });

  it('holds what was changed outside git as well, and says that it may be ours', async () => {
    await world.live.set('pay', { on: 5 });
    ramp('pay', 20);
    const done = await world.applied();

    expect(changesOf(done)).toEqual([]);
    expect(withheldIn(done)).toEqual([`${PAY} adopt-needed`]);
    expect(done.plan.withheld[0]?.because).toContain('it may be ours');
    expect(done.unknowns.map(({ code }) => code)).toEqual(['nothing-remembered']);
  });

  it('says nothing of what is missing where all is equal, and undoes no rollback by an unrelated commit', async () => {
    const equal = await world.applied();
    expect(equal.plan.changes).toEqual([]);
    expect(equal.unknowns).toEqual([]);

    ramp('pay', 20);
    await world.applied();
    forget(world);
    await world.live.set('pay', { on: 10 });
    ramp('cart', 30);
    const done = await world.applied();

    expect(changesOf(done)).toEqual(['flag/cart@production commit: Ramp cart to 30 %']);
    expect(withheldIn(done)).toEqual([`${PAY} adopt-needed`]);
  });

  it('undoes no rollback by an older push, and takes what --since names for the push at hand, all of its commits', async () => {
    ramp('pay', 20);
    ramp('pay', 30);
    const held = await world.applied();
    expect(withheldIn(held)).toEqual([`${PAY} adopt-needed`]);

    forget(world);
    const done = await world.applied({ since: added });

    expect(changesOf(done)).toEqual([`${PAY} commit: Ramp pay to 30 % (+1 more)`]);
    expect(withheldIn(done)).toEqual([]);
  });

  describe('and nothing can be, because the checkout cannot be written', () => {
    /** As in a checkout that the account of the run cannot write; the account of the tests may write everything. */
    async function statelessRun(settings: RunSettings = {}): Promise<Applied> {
      const noHome = async () => Promise.resolve(null);
      const homes = { openState: noHome, peekState: noHome, openRecords: noHome };
      return world.applied(settings, {}, () => homes);
    }

    it('undoes no rollback of the newest commit in a protected environment, but applies the push that --since names', async () => {
      ramp('pay', 20);
      await world.live.set('pay', { on: 20 });
      await world.live.set('pay', { on: 10 });
      const done = await statelessRun();

      expect(await world.live.share('pay')).toBe(10);
      expect(changesOf(done)).toEqual([]);
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

    it('holds there what was changed by hand, also where --since names the push, until --adopt', async () => {
      await world.live.set('pay', { on: 5 });
      ramp('pay', 20);
      const held = await statelessRun({ since: added });
      const adopted = await statelessRun({ since: added, adopt: true });

      expect(withheldIn(held)).toEqual([`${PAY} adopt-needed`]);
      expect(adopted.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
        `${PAY} unknown`,
      ]);
      expect(await world.live.share('pay')).toBe(20);
    });
  });
});
