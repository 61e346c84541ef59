import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconcile/reconcile.js';
import { reportOf } from '../../../src/reconcile/result.js';
import { planDocument } from '../../../src/report/json/plan.js';
import { rampText } from '../../../src/report/text/ramps.js';
import { ramp, shareOf, since, storyOf, type Clock } from '../../support/ramp-story.js';
import type { PipelineWorld, RunSettings } from '../../support/pipeline-world.js';

const WAITING = 'ramp: { start: signal, steps: "10, 6h, 25, 12h, 50" }';
const SHOP = 'shop@production';

/** A run with the signal of the moment, so many hours after the commit. */
function signalled(after: Clock, hours: number): RunSettings {
  return { startRamp: { [SHOP]: new Date(after(hours).now()).toISOString() } };
}

async function sharesAt(
  world: PipelineWorld,
  after: Clock,
  all: readonly number[],
): Promise<number[]> {
  const shares = [];
  for (const hours of all) {
    await world.applied({}, after(hours));
    shares.push(await shareOf(world));
  }
  return shares;
}

async function ladderOf(world: PipelineWorld, settings: RunSettings = {}) {
  const run = await world.opened({ dryRun: true, ...settings });
  const report = reportOf(await plan(run.context), run);
  return { document: planDocument(report).ramps?.[0], text: (report.ramps ?? []).map(rampText) };
}

describe('a ramp that starts with a signal', () => {
  it('waits for it, however long ago its commit came, and says what it waits for', async () => {
    const { world, after } = await storyOf(WAITING);

    expect(await sharesAt(world, after, [0, 100])).toEqual([0, 0]);

    const { document, text } = await ladderOf(world, { at: after(100).now() });
    expect(document?.signal).toMatchObject({ ramp: SHOP, at: null });
    expect(text).toEqual([
      'Ramp of on in flag/shop@production: 10 %, 25 %, 50 %. It waits: its signal has not come (POST /ramps/shop@production/start or --start-ramp shop@production).',
    ]);
  });

  it('begins with it, for runs that know of it from the state alone, and says so in its writes', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied({}, after(0));
    world.writes();

    await world.applied(signalled(after, 100), after(100));

    expect(await shareOf(world)).toBe(10);
    expect(await sharesAt(world, after, [105.9, 106, 118])).toEqual([10, 25, 50]);
    const [first] = world.writes().map(({ query }) => query['comment']);
    expect(first).toMatch(
      /^on to 10 %, step 1 of 3, due \S+ by the ramp of [0-9a-f]{8} .+: Ramp the shop, started by a signal at \S+Z\.$/,
    );
    const { document } = await ladderOf(world);
    expect(document?.signal?.at).toBe(new Date(after(100).now()).toISOString());
  });

  it('counts the first of several signals', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied(signalled(after, 10), after(10));

    await world.applied(signalled(after, 15), after(16));

    expect(await shareOf(world)).toBe(25);
  });

  it('is remembered also by a run that a guard refuses', async () => {
    const { world, after } = await storyOf('ramp: { start: signal, steps: "10, 6h, 100" }');
    world.repository.commit('Guard', {
      'flagkeel.yaml': `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
guards: { maxShift: 5 }
`,
    });
    const refused = await world.reconciled(signalled(after, 10), after(10));
    expect(refused.guardFindings.map(({ guard }) => guard)).toEqual(['maxShift']);

    const { document } = await ladderOf(world);

    expect(document?.signal?.at).toBe(new Date(after(10).now()).toISOString());
  });

  it('is shown by a dry run as it will be, and starts nothing there', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied({}, after(0));

    const { document } = await ladderOf(world, { ...signalled(after, 1), at: after(8).now() });

    expect(document?.step).toBe(1);
    expect((await ladderOf(world)).document?.signal?.at).toBeNull();
  });

  it('waits for another one where its steps are others, and stays where it is meanwhile', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied(signalled(after, 0), after(0));
    const anew = ramp(world, WAITING.replace('25', '30'), 'Another ladder');

    expect(await sharesAt(world, anew, [100])).toEqual([10]);
    await world.applied(signalled(anew, 100), anew(106));

    expect(await shareOf(world)).toBe(30);
  });

  it('needs no other one after a kill or a hold that git took back, and begins anew', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied(signalled(after, 0), after(7));
    ramp(world, WAITING.replace('signal,', 'signal, hold: true,'), 'Hold it');
    await world.applied({}, after(100));
    const anew = ramp(world, WAITING, 'Go on');

    expect(await sharesAt(world, anew, [17.9, 18])).toEqual([25, 50]);
  });

  it('begins with the commit where the signal came before it', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied(signalled(after, -50), after(1));

    expect(await shareOf(world)).toBe(10);
  });

  it('of a flag that is not declared stands in no command line', async () => {
    const { world } = await storyOf(WAITING);

    await expect(world.planned({ startRamp: { 'shop@staging': null } })).rejects.toThrow(
      'cannot start "shop@staging": no ramp of that name starts with a signal (known: shop@production)',
    );
  });

  it('is started by a signal for the very steps that somebody saw, and for no others', async () => {
    const { world, after } = await storyOf(WAITING);
    const { document } = await ladderOf(world);
    const at = new Date(after(1).now()).toISOString();
    const seen = `${SHOP}#${document?.signal?.steps ?? ''}`;

    await world.applied({ startRamp: { [`${SHOP}#00000000`]: at } }, after(8));
    expect(await shareOf(world)).toBe(0);
    await world.applied({ startRamp: { [seen]: at } }, after(8));
    expect(await shareOf(world)).toBe(25);
  });

  it('keeps going where its state is lost, from the step that is live', async () => {
    const { world, after } = await storyOf(WAITING);
    await world.applied(signalled(after, 0), after(7));
    for (const ref of world.repository.git('for-each-ref', '--format=%(refname)').split('\n')) {
      if (ref.startsWith('refs/flagkeel/')) world.repository.git('update-ref', '-d', ref);
    }

    await world.applied({}, after(100));

    // Nobody knows of the signal any more: the ramp waits, and what is reached stays.
    expect(await shareOf(world)).toBe(25);
    expect((await ladderOf(world)).document?.held).toContain('its signal has not come');
    expect(since(world.repository)(0).now()).toBe(after(0).now());
  });
});
