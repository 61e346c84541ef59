import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconcile/reconcile.js';
import { reportOf } from '../../../src/reconcile/result.js';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import { planText } from '../../../src/report/text/plan.js';
import { rampText } from '../../../src/report/view/sentences.js';
import {
  PIPELINE_CONFIG,
  pipelineWorld,
  withheldIn,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { ramp, STEPS, storyOf } from '../../support/ramp-story.js';

const kills =
  (entries: string): Act =>
  ({ repository }) => {
    repository.commit('Say what is killed', { 'kills/production.yaml': `kills: ${entries}\n` });
  };
const spec =
  (text: string): Act =>
  (world) =>
    void ramp(world, text, 'Another spec');
const forget: Act = ({ repository }) => {
  const refs = repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel/').split('\n');
  for (const ref of refs) repository.git('update-ref', '-d', ref);
};

type Act = (world: PipelineWorld) => void;
/** Runs at an hour of the ramp, after something has happened; the share that is live then. */
type Move = readonly [hours: number, share: number, before?: Act];

describe('a ramp', () => {
  it.each<[string, readonly Move[]]>([
    [
      'begins with the run that first sees it, however old its commit is',
      [
        [2_000, 10],
        [2_005, 10],
        [2_006, 25],
      ],
    ],
    [
      'is caught up with by the step that is due alone, and goes on from there when its steps change',
      [
        [0, 10],
        [20, 50],
        [100, 50, spec('ramp: "10, 6h, 40, 12h, 60"')],
        [111, 50],
        [112, 60],
      ],
    ],
    [
      'stays where it is while its spec holds it, and begins anew when that is over',
      [
        [0, 10],
        [7, 25],
        [1_000, 25, spec('ramp: { steps: "10, 6h, 25, 12h, 50, 1d, 100", hold: true }')],
        [2_000, 25, spec(STEPS)],
        [2_011, 25],
        [2_012, 50],
      ],
    ],
    [
      'stands still while its flag is killed, and the next wait counts from the run that takes the kill back',
      [
        [0, 10],
        [7, 25],
        [1_000, 25, kills('{ shop: { reason: INC-1 } }')],
        [1_100, 25, kills('{}')],
        [1_101, 25],
        [1_111, 25],
        [1_112, 50],
      ],
    ],
    [
      'whose state is lost keeps the share that is live, and begins with the run that sees it',
      [
        [0, 10],
        [20, 50],
        [100, 50, forget],
        [141, 50],
        [142, 100],
      ],
    ],
  ])('%s', async (_, moves) => {
    const { world, after } = await storyOf();
    const shares: number[] = [];
    for (const [hours, , before] of moves) {
      before?.(world);
      await world.applied({ adopt: true }, after(hours));
      shares.push(await world.live.share('shop'));
    }

    expect(shares).toEqual(moves.map(([, share]) => share));
  });

  it('takes each step when it is due, in a write of its own that names commit and step', async () => {
    const { world, after } = await storyOf();
    world.writes();

    const shares = [];
    for (const hours of [0, 5.9, 6, 17.9, 18, 41.9, 42, 1_000]) {
      const { converged } = await world.applied({}, after(hours));
      expect(converged).toBe(true);
      shares.push(await world.live.share('shop'));
    }

    expect(shares).toEqual([10, 10, 25, 25, 50, 50, 100, 100]);
    const written = world.writes().map(({ query }) => query);
    expect(written.map(({ title }) => title)).toEqual([
      'Ramp flag/shop@production: on to 10 %, step 1 of 4',
      'Ramp flag/shop@production: on to 25 %, step 2 of 4',
      'Ramp flag/shop@production: on to 50 %, step 3 of 4',
      'Ramp flag/shop@production: on to 100 %, step 4 of 4',
    ]);
    expect(written[1]?.['comment']).toMatch(
      /^on to 25 %, step 2 of 4, due \S+Z by the ramp that began \S+Z \([0-9a-f]{8}\)\.$/,
    );
  });

  it('of three treatments leaves the others the shares between them', async () => {
    const world = await pipelineWorld();
    const spec = `flag: shop
treatments: { "a": "", "b": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    defaultRule: { "b": 25, "off": rest }
    ramp: { treatment: "a", start: 2026-03-02T10:00Z, steps: [{ percent: 10 }, { percent: 50, at: 2026-03-03T10:00Z }] }
`;
    world.repository.commit('Start', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/shop.yaml': spec,
    });

    const { input } = await world.planned({ at: Date.parse('2026-03-04T10:00Z') });

    expect(
      input.desired.flags.get('shop')?.environments.get('staging')?.fields.defaultRule,
    ).toEqual([
      { treatment: 'a', size: 50 },
      { treatment: 'b', size: 13 },
      { treatment: 'off', size: 37 },
    ]);
  });
});

describe('a person who edits what a ramp is about', () => {
  it('and goes back is left alone, and the ramp waits and says so', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    await world.applied({}, after(7));
    await world.live.set('shop', { on: 5 });

    const done = await world.applied({}, after(20));

    expect(withheldIn(done)).toEqual(['flag/shop@production ramp-held']);
    expect(done.plan.withheld[0]?.because).toBe(
      '"on" went back from 25 to 5 % on the service, and the ramp waits',
    );
    expect(await world.live.share('shop')).toBe(5);
    await world.applied({ revertDrift: true }, after(20));
    expect(await world.live.share('shop')).toBe(50);
  });

  it('and goes ahead is left alone until the ladder has caught up', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    await world.applied({}, after(7));
    await world.live.set('shop', { on: 40 });

    expect(withheldIn(await world.applied({}, after(8)))).toEqual([
      'flag/shop@production ramp-held',
    ]);
    // Between two steps it is an edit like any other, which a protected environment reports.
    expect(withheldIn(await world.applied({}, after(20)))).toEqual([
      'flag/shop@production drift-reported',
    ]);
    expect(await world.live.share('shop')).toBe(40);
  });
});

describe('what stands against a step', () => {
  it('is that no state is kept: no run could tell when it began', async () => {
    const { world, after } = await storyOf();
    rmSync(join(world.repository.directory, '.git'), { recursive: true });
    const run = await world.opened({ dryRun: true, at: after(7).now() });

    const planned = await plan(run.context);

    expect(planned.plan.changes).toEqual([]);
    expect(reportOf(planned, run).ramps?.[0]?.held).toBe(
      'no state is kept here, so that only ramps with a `start`, and steps with `at`, move',
    );
  });
});

describe('the ladder', () => {
  it('does not say "now" of a step that is not served, nor that a flag is killed that the run restores', async () => {
    const { world, after } = await storyOf();
    const { repository } = world;
    const lines = async (minutes: number, apply = false): Promise<string> => {
      const run = await world.opened({ dryRun: true, at: after(minutes).now() });
      const planned = await plan(run.context);
      const done = apply ? await world.applied({}, after(minutes)) : planned;
      return (reportOf(done, run).ramps ?? []).map(rampText).join('');
    };
    expect(await lines(0, true)).toContain('10 % now');
    expect(await lines(7)).toContain('10 % done, 25 % due');
    expect(await lines(7, true)).toContain('10 % done, 25 % now');
    repository.commit('Stop', { 'kills/production.yaml': 'kills: { shop: { reason: INC-1 } }\n' });
    await world.applied({}, after(8));
    repository.commit('Back', { 'kills/production.yaml': 'kills: {}\n' });

    const back = await lines(1_000, true);
    expect(back).not.toContain('the flag is killed');
    expect(await world.live.share('shop')).toBe(25);
  });

  it('does not say "now" of a step below the share that the run leaves, though it writes the field', async () => {
    const { world } = await storyOf();
    const pro = 'if: { attribute: plan, in: [pro] }';
    ramp(world, `rules: [{ ${pro}, serve: { 'on': 60, 'off': 40 } }]`);
    await world.applied();
    const free = "{ if: { attribute: plan, in: [free] }, serve: 'on' }";
    ramp(world, `rules: [{ ${pro}, serve: 'off', ramp: '10, 6h, 100' }, ${free}]`);
    expect((await world.command('reconcile')).stdout).toMatch(
      /Ramp of on in flag\/shop@production, rule 1: 10 % done, 100 % next at .* The service has 60 %\./,
    );
  });

  it('is told in every format: done, now, next, when, why it waits, and what the service has beyond the step', async () => {
    const spec = 'ramp: { start: 2026-03-02T10:00Z, steps: "10, 6h, 25, 12h, 50, 1d, 100" }';
    const { world } = await storyOf(spec);
    await world.applied({}, { now: () => Date.parse('2026-03-02T17:00Z') });
    const run = await world.opened({ dryRun: true, at: Date.parse('2026-03-02T17:00Z') });

    const report = reportOf(await plan(run.context), run);

    const line =
      'Ramp of on in flag/shop@production: 10 % done, 25 % now, 50 % next at 2026-03-03T04:00+00:00 (UTC), 100 % at 2026-03-04T04:00+00:00 (UTC).';
    expect(
      planText(report, { color: false, width: 200, showKeys: false, verbose: false }),
    ).toContain(line);
    expect(planMarkdown(report)).toContain('- 📈 Ramp of on in ');
    expect(planDocument(report).ramps).toMatchObject([
      { id: 'flag/shop@production', rule: null, treatment: 'on', step: 1, held: null },
    ]);
    await world.live.set('shop', { on: 5 });
    const again = reportOf(await plan(run.context), run);
    expect((again.ramps ?? []).map(rampText).join('')).toMatch(
      /: 10 % due, 25 % due, .*100 %\. It waits: its share was changed on the service\.$/,
    );
    await world.live.set('shop', { on: 60 });
    const raised = reportOf(await plan(run.context), run);
    expect((raised.ramps ?? []).map(rampText).join('')).toMatch(
      /: 10 % done, 25 % done, 50 %, 100 %\. The service has 60 %\. It waits: /,
    );
  });
});
