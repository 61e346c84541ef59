import { describe, expect, it } from 'vitest';
import { nextStepDue, rampsOf } from '../../../src/reconcile/ramps/ladders.js';
import { plan } from '../../../src/reconcile/reconcile.js';
import { reportOf } from '../../../src/reconcile/result.js';
import { planDocument } from '../../../src/report/json/plan.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { edit, shareOf, since, type Clock } from '../../support/ramp-story.js';

const AFTER = 'ramp: { start: { after: staging, for: 1d }, steps: "10, 6h, 100" }';

/** Staging climbs within an hour, and production follows a day later. */
async function twoEnvironments(): Promise<{ world: PipelineWorld; after: Clock }> {
  const world = await pipelineWorld();
  world.repository.commit('Start', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': flagSpec('shop', { on: 0 }),
  });
  await world.applied();
  const staging = 'ramp: "50, 1h, 100"';
  world.repository.commit('Ramp the shop', {
    'flags/shop.yaml': flagSpec('shop', { on: 0, staging, production: AFTER }),
  });
  return { world, after: since(world.repository) };
}

async function at(world: PipelineWorld, after: Clock, hours: number): Promise<number> {
  await world.applied({}, after(hours));
  return shareOf(world);
}

async function ladderOf(world: PipelineWorld, hours: number, after: Clock) {
  const run = await world.opened({ dryRun: true, at: after(hours).now() });
  const { ramps = [] } = planDocument(reportOf(await plan(run.context), run));
  return ramps.find(({ id }) => id === 'flag/shop@production');
}

describe('a ramp that starts after another environment', () => {
  it('does so once runs have seen it there for long enough, and says since when', async () => {
    const { world, after } = await twoEnvironments();
    expect([await at(world, after, 0), await at(world, after, 1)]).toEqual([0, 0]);
    expect((await ladderOf(world, 1, after))?.held).toBe('no run has seen staging at 100 % yet');

    expect(await at(world, after, 2)).toBe(0);

    const seen = new Date(after(2).now()).toISOString();
    expect(await ladderOf(world, 3, after)).toMatchObject({
      held: null,
      after: { environment: 'staging', percent: 100, since: seen },
      steps: [{ due: new Date(after(26).now()).toISOString() }, {}],
    });
    expect([await at(world, after, 25.9), await at(world, after, 26)]).toEqual([0, 10]);
    expect(world.writes().at(-1)?.query['comment']).toContain(
      `Ramp the shop, started after staging at 100 % since ${seen}.`,
    );
  });

  it('waits anew where somebody went back there, also while it is under way', async () => {
    const { world, after } = await twoEnvironments();
    for (const hours of [1, 2, 26]) await world.applied({}, after(hours));
    await edit(world, 40, world.live.staging);

    const held = await world.applied({}, after(40));

    const [standing] = rampsOf(held.input, held.plan).filter(
      ({ id }) => id === 'flag/shop@production',
    );
    expect(standing?.held).toBe('staging, after which it starts, is not at 100 % now');
    expect(await shareOf(world)).toBe(10);
    await edit(world, 100, world.live.staging);
    expect([await at(world, after, 50), await at(world, after, 79)]).toEqual([10, 10]);
    expect(await at(world, after, 80)).toBe(100);
  });

  it('has a run look soon after the write that brings the other one there', async () => {
    const { world, after } = await twoEnvironments();
    await world.applied({}, after(0));

    const { input } = await world.applied({}, after(1));
    expect(nextStepDue(input)).toBe(new Date(after(1).now() + 60_000).toISOString());

    const next = await world.applied({}, after(2));
    expect(nextStepDue(next.input)).toBe(new Date(after(26).now()).toISOString());
  });

  it('stays where the other one is not looked at, and after its state was lost', async () => {
    const { world, after } = await twoEnvironments();
    for (const hours of [1, 2]) await world.applied({}, after(hours));

    await world.applied({ environment: ['production'] }, after(26));
    expect(await shareOf(world)).toBe(0);
    for (const ref of world.repository.git('for-each-ref', '--format=%(refname)').split('\n')) {
      if (ref.startsWith('refs/flagkeel/')) world.repository.git('update-ref', '-d', ref);
    }
    expect(await at(world, after, 30)).toBe(0);
    expect(await at(world, after, 54)).toBe(10);
  });
});
