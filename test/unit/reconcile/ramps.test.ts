import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  pipelineWorld,
  textOf,
  withheldIn,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { laddersIn, ramp, since, storyOf } from '../../support/ramp-story.js';

type Act = (world: PipelineWorld) => unknown;

describe('a ramp', () => {
  it('takes a step in a write of its own that names commit and step', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    world.writes();

    await world.applied({}, after(6));

    const written = world.writes().map(({ query }) => query);
    expect(written).toHaveLength(1);
    expect(written[0]?.['title']).toBe('Ramp flag/shop@production: on to 25 %, step 2 of 4');
    expect(written[0]?.['comment']).toMatch(
      /^on to 25 %, step 2 of 4, due \S+Z by the ramp that began \S+Z \([0-9a-f]{8}\)\.$/,
    );
  });

  it('of another treatment begins with its own first step, not with the share that the first treatment reached', async () => {
    const { world, after } = await storyOf('ramp: "10, 6h, 90"');
    await world.applied({}, after(0));
    await world.applied({}, after(7));
    const production = 'ramp: { treatment: "off", steps: "20, 1d, 50" }';
    const files = { 'flags/shop.yaml': flagSpec('shop', { on: 100, production }) };
    world.repository.commit('Take it back slowly', files);
    const shares: number[] = [];
    for (const hours of [8, 31, 32.1]) {
      await world.applied({}, after(hours));
      shares.push(await world.live.share('shop'));
    }

    expect(shares).toEqual([80, 80, 50]);
  });

  it('of three treatments leaves the others the shares between them', async () => {
    const world = await pipelineWorld();
    world.repository.commit('Start', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/shop.yaml': `flag: shop
treatments: { "a": "", "b": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    defaultRule: { "b": 25, "off": rest }
    ramp: { treatment: "a", start: 2026-03-02T10:00Z, steps: [{ percent: 10 }, { percent: 50, at: 2026-03-03T10:00Z }] }
`,
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

it('a person who edits what a ramp is about and goes back is left alone, and the ramp waits and says so', async () => {
  const { world, after } = await storyOf();
  await world.applied({}, after(0));
  await world.applied({}, after(7));
  await world.live.set('shop', { on: 5 });

  const done = await world.applied({}, after(20));

  expect(withheldIn(done)).toEqual(['flag/shop@production ramp-held']);
  expect(done.plan.withheld[0]?.because).toBe('"on" went back from 25 to 5 % on the service');
  expect(await world.live.share('shop')).toBe(5);
  await world.applied({ revertDrift: true }, after(20));
  expect(await world.live.share('shop')).toBe(50);
});

const LAST_STEP = 'Ramp flag/shop@production: on to 95 %, step 2 of 2';

it('is held where it ends below the live share, and never said to be in sync', async () => {
  const world = await appliedWorld({ 'flags/shop.yaml': flagSpec('shop', { on: 100 }) });
  const after = ramp(world, 'ramp: "10, 6h, 95"', 'Ramp it again');

  for (const hours of [0, 7, 20]) {
    const done = await world.applied({}, after(hours));
    expect(withheldIn(done)).toEqual(['flag/shop@production ramp-held']);
    expect(done.plan.withheld[0]?.because).toBe(
      '"on" is at 100 % on the service, beyond the last step of 95 %',
    );
    expect(done.verdict).toMatchObject({ whole: 'held' });
    expect(await world.live.share('shop')).toBe(100);
  }
  expect(laddersIn(await world.reported({ at: after(20).now() }))).toBe(
    'Ramp of on in flag/shop@production: 10 % done, 95 % done. The service has 100 %. It waits: "on" is at 100 % on the service, beyond the last step of 95 %.',
  );
  world.writes();
  expect((await world.applied({ revertDrift: true }, after(1))).converged).toBe(true);
  expect(await world.live.share('shop')).toBe(95);
  expect(world.writes().map(({ query }) => query['title'])).toEqual([LAST_STEP]);
});

it('is held beyond its last step by the very run that takes the kill of its flag back', async () => {
  const world = await appliedWorld({ 'flags/shop.yaml': flagSpec('shop', { on: 100 }) });
  world.repository.commit('Kill', killList('{ shop: { reason: INC-1 } }'));
  await world.applied();
  const after = ramp(world, 'ramp: "10, 6h, 95"', 'Ramp it again');
  await world.applied({}, after(1));
  world.repository.commit('Bring it back', killList('{}'));

  for (const hours of [2, 3]) {
    const done = await world.applied({}, after(hours));
    expect(done.plan.withheld).toMatchObject([{ why: 'ramp-held' }]);
    expect(done.verdict).toMatchObject({ whole: 'held' });
    expect(await world.live.definition('shop')).toMatchObject({ killed: false });
  }
  expect(await world.live.share('shop')).toBe(100);
});

it('in a rule is held where it ends below the live share, while the ramp of the next rule goes on', async () => {
  const rule = (plan: string, serve: string) =>
    `{ if: { attribute: plan, in: [${plan}] }, serve: ${serve} }`;
  const spec = (first: string, next: string) =>
    flagSpec('shop', { production: `rules: [${rule('pro', first)}, ${rule('team', next)}]` });
  const world = await appliedWorld({ 'flags/shop.yaml': spec('"on"', '"off"') });
  const grows = (last: number) => `{ "off": 100 }, ramp: "10, 6h, ${last}"`;
  world.repository.commit('Ramp', { 'flags/shop.yaml': spec(grows(95), grows(50)) });
  const after = since(world.repository);
  const because = '"on" is at 100 % on the service, beyond the last step of 95 %';
  world.writes();
  const shares = async () =>
    (await world.live.definition('shop')).rules.map(({ buckets }) => buckets[0]?.size);

  for (const hours of [0, 7, 20]) {
    const done = await world.applied({}, after(hours));
    expect(done.plan.withheld).toMatchObject([{ why: 'ramp-held', because }]);
    expect(done.notes.get('flag/shop@production ramp-held')?.title).toBe(LAST_STEP);
    expect(done.verdict).toMatchObject({ whole: 'held' });
    expect(await shares()).toEqual([100, hours === 0 ? 10 : 50]);
  }
  const titles = world.writes().map(({ query }) => query['title']);
  expect(titles).toEqual([
    'Ramp flag/shop@production: on to 10 %, step 1 of 2',
    'Ramp flag/shop@production: on to 50 %, step 2 of 2',
  ]);
  const [first, next, ...more] = laddersIn(await world.reported({ at: after(20).now() })).split(
    / (?=Ramp)/,
  );
  expect([first, next, more]).toEqual([
    `Ramp of on in flag/shop@production, rule 1: 10 % done, 95 % done. The service has 100 %. It waits: ${because}.`,
    'Ramp of on in flag/shop@production, rule 2: 10 % done, 50 % now.',
    [],
  ]);
  expect((await world.applied({ touchedSince: 'state' }, after(21))).verdict).toMatchObject({
    whole: 'held',
  });
  expect((await world.applied({ revertDrift: true }, after(22))).converged).toBe(true);
  expect(await shares()).toEqual([95, 50]);
  expect(world.writes().map(({ query }) => query['title'])).toEqual([LAST_STEP]);
  expect((await world.applied({}, after(23))).verdict).toMatchObject({ whole: 'live' });
});

it('where no state is kept a ramp stands still, for no run could tell when it began; one with a start goes upwards alone', async () => {
  const { world, after } = await storyOf();
  rmSync(join(world.repository.directory, '.git'), { recursive: true });

  const report = await world.reported({ at: after(7).now() });

  expect(report.plan.changes).toEqual([]);
  expect(report.ramps?.[0]?.held).toBe(
    'no state is kept here, so that only ramps with a `start`, and steps with `at`, move',
  );
  const started = await storyOf('ramp: { start: 2026-03-02T10:00Z, steps: "10, 6h, 25" }');
  rmSync(join(started.world.repository.directory, '.git'), { recursive: true });
  const at = { now: () => Date.parse('2026-03-03T10:00Z') };
  for (const by of [25, 50]) {
    await started.world.applied({ adopt: true }, at);
    expect(await started.world.live.share('shop')).toBe(by);
    await started.world.live.set('shop', { on: 50 });
  }
});

describe('the ladder', () => {
  it('says that no step is ever due where its window never meets those of the environment', async () => {
    const { world, after } = await storyOf('ramp: { steps: "10, 6h, 25" }');
    const hours = 'days: [mon, tue], zone: Europe/Madrid';
    const windows = `windows:
  office: { ${hours}, from: 09:00, to: 17:00 }
  late: { ${hours}, from: 20:00, to: 23:00 }
`;
    const config = PIPELINE_CONFIG.replace('production: {}', 'production: { windows: [office] }');
    world.repository.commit('Part the windows', { 'flagkeel.yaml': config + windows });
    ramp(world, 'ramp: { steps: "10, 6h, 25", within: late }');

    expect(laddersIn(await world.reported({ at: after(7).now() }))).toBe(
      'Ramp of on in flag/shop@production: 10 %, 25 %. It waits: its window "late" and those of its environment are never open at the same time.',
    );
  });

  it('does not say "now" of a step that is not served, nor that a flag is killed that the run restores', async () => {
    const { world, after } = await storyOf();
    const { repository } = world;
    const lines = async (minutes: number, apply = false): Promise<string> => {
      const at = after(minutes);
      const done = apply ? world.applied({}, at) : world.planned({ at: at.now() });
      return laddersIn(world.reportOf(await done));
    };
    expect(await lines(0, true)).toContain('10 % now');
    expect(await lines(7)).toContain('10 % done, 25 % due');
    expect(await lines(7, true)).toContain('10 % done, 25 % now');
    repository.commit('Stop', killList('{ shop: { reason: INC-1 } }'));
    await world.applied({}, after(8));
    repository.commit('Back', killList('{}'));

    const back = await lines(1_000, true);
    expect(back).not.toContain('the flag is killed');
    expect(await world.live.share('shop')).toBe(25);
  });

  it.each<[string, string, Act, Act]>([
    [
      'a kill in git',
      'the flag is killed',
      ({ repository }) => repository.commit('Stop', killList('{ shop: { reason: INC-1 } }')),
      ({ repository }) => repository.commit('Back', killList('{}')),
    ],
    [
      'a hold',
      'its spec says `hold: true`',
      (world) => ramp(world, 'ramp: { steps: "10, 6h, 25, 12h, 50", hold: true }'),
      (world) => ramp(world, 'ramp: { steps: "10, 6h, 25, 12h, 50" }'),
    ],
  ])('does not call a step due under %s, after which its wait counts anew', async (...row) => {
    const [, why, stop, goOn] = row;
    const { world, after } = await storyOf('ramp: "10, 6h, 25, 12h, 50"');
    const line = async (hours: number) =>
      laddersIn(await world.reported({ at: after(hours).now() }));
    await world.applied({}, after(0));
    stop(world);
    await world.applied({}, after(2));

    for (const hours of [3, 100]) {
      expect(await line(hours)).toMatch(/: 10 % now, 25 %, 50 %\. It waits: /);
      expect(await line(hours)).toContain(why);
    }
    goOn(world);
    await world.applied({}, after(101));
    expect(await line(106)).toContain(': 10 % now, 25 % next at');
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

  it('does not announce steps below the share that is live, where the start of the ramp is put off', async () => {
    const { world, after } = await storyOf('ramp: "10, 6h, 25, 1d, 100"');
    await world.applied({}, after(0));
    await world.applied({}, after(7));
    ramp(world, 'ramp: { start: 2099-03-02T10:00Z, steps: "10, 6h, 25, 1d, 100" }');

    const report = world.reportOf(await world.applied({}, after(8)));

    expect(laddersIn(report)).toMatch(/: 10 % done, 25 % now, 100 % next at 2099-03-03/);
  });

  it('does not say "now" of a step that the run did not look at, or of a rule that is not there', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    const lines = async (options: object): Promise<string> =>
      laddersIn(await world.reported({ at: after(7).now(), ...options }));

    expect(await lines({ environment: ['staging'] })).toContain(': 10 % done, 25 % due, 50 % next');
    const rule = '{ if: { attribute: plan, in: [pro] }, serve: "off", ramp: "40, 6h, 100" }';
    ramp(world, `rules: [${rule}]`);
    expect(await lines({})).toContain('rule 1: 40 % due, 100 % next');
  });

  it('is told in every format: done, now, next, when, why it waits, and what the service has beyond the step', async () => {
    const spec = 'ramp: { start: 2026-03-02T10:00Z, steps: "10, 6h, 25, 12h, 50, 1d, 100" }';
    const { world } = await storyOf(spec);
    await world.applied({}, { now: () => Date.parse('2026-03-02T17:00Z') });
    const reported = async () => world.reported({ at: Date.parse('2026-03-02T17:00Z') });

    const report = await reported();

    const line =
      'Ramp of on in flag/shop@production: 10 % done, 25 % now, 50 % next at 2026-03-03T04:00+00:00 (UTC), 100 % at 2026-03-04T04:00+00:00 (UTC).';
    expect(textOf(report)).toContain(line);
    expect(planMarkdown(report)).toContain('- 📈 Ramp of on in ');
    expect(planDocument(report).ramps).toMatchObject([
      { id: 'flag/shop@production', rule: null, treatment: 'on', step: 1, held: null },
    ]);
    await world.live.set('shop', { on: 5 });
    expect(laddersIn(await reported())).toMatch(
      /: 10 % due, 25 % due, .*100 %\. It waits: "on" went back from 25 to 5 % on the service\.$/,
    );
    await world.live.set('shop', { on: 60 });
    expect(laddersIn(await reported())).toMatch(
      /: 10 % done, 25 % done, 50 % done, 100 %\. The service has 60 %\. It waits: /,
    );
  });
});

it.each([
  // The step of 24 h was taken; the clock is set back to where it was not due, and goes on.
  ['back by an hour', [0, 24, 23, 23.5, 24, 24.5, 48], [10, 25, 25, 25, 25, 25, 50]],
  // Two steps are due at once, and the later is taken; the clock is set right, and lowers nothing.
  ['forth by a day and back', [0, 25, 49, 25, 26, 48, 72], [10, 25, 50, 50, 50, 50, 100]],
  ['forth by a day over two steps', [1, 49, 50, 72], [10, 50, 50, 100]],
])('a clock that is set %s writes each step once and lowers nothing', async (_, hours, shares) => {
  const start = Date.parse('2026-03-02T10:00Z');
  const { world } = await storyOf(
    'ramp: { start: 2026-03-02T10:00Z, steps: "10, 1d, 25, 1d, 50, 1d, 100" }',
  );
  const found: number[] = [];
  for (const hour of hours) {
    await world.applied({}, { now: () => start + hour * 3_600_000 });
    found.push(await world.live.share('shop'));
  }

  expect(found).toEqual(shares);
  expect(world.writes()).toHaveLength(new Set(shares).size);
});
