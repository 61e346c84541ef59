import { expect, it } from 'vitest';
import type { Applied, Planned } from '../../../src/reconcile/context.js';
import { exitCodeOf } from '../../../src/reconcile/result.js';
import { summaryLine } from '../../../src/report/text/plan.js';
import { closedText } from '../../../src/report/view/sentences.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  textOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

/** Production may be changed on weekdays from nine to five in Madrid, and not in the last week of November. */
const CONFIG = PIPELINE_CONFIG.replace('production: {}', 'production: { windows: [office] }')
  .concat(`windows:
  office: { days: [mon, tue, wed, thu, fri], from: 09:00, to: 17:00, zone: Europe/Madrid }
freezes:
  sale: { from: 2026-11-24, to: 2026-11-29, zone: Europe/Madrid, environments: [production], reason: Black Friday }
`);

const OPEN = '2026-11-23T12:00:00Z';
const NIGHT = '2026-11-23T20:00:00Z';
const FROZEN = '2026-11-25T12:00:00Z';

const by = (text: string): { now: () => number } => ({ now: () => Date.parse(text) });
const at = (text: string): { at: number } => ({ at: Date.parse(text) });

/** A flag that is on the service everywhere, and a commit that changes its share in both environments. */
async function storyOf(on = 25): Promise<PipelineWorld> {
  const world = await pipelineWorld();
  world.repository.commit('Start', {
    'flagkeel.yaml': CONFIG,
    'flags/shop.yaml': flagSpec('shop'),
  });
  await world.applied({}, by(OPEN));
  world.repository.commit('Ramp the shop', { 'flags/shop.yaml': flagSpec('shop', { on }) });
  world.writes();
  return world;
}

function linesOf({ plan }: Planned): string[] {
  return [
    ...plan.changes.map(({ id }) => id),
    ...plan.withheld.map(({ id, why, until = '' }) => `${id} ${why} ${until}`),
  ];
}

function outcomesOf({ outcomes }: Applied): string[] {
  return [...outcomes].map(([id, { status }]) => `${id} ${status}`).sort();
}

it('an environment outside its window keeps what it has, says who holds it, and the others do not wait for it', async () => {
  const world = await storyOf();
  const planned = await world.planned(at(FROZEN));
  expect(planned.plan.withheld[0]?.because).toBe(
    'frozen by "sale" (Black Friday); it goes at 2026-11-30T09:00+01:00 (Europe/Madrid)',
  );
  expect(textOf(world.reportOf(planned))).toContain(
    'production is closed to changes until 2026-11-30T09:00+01:00 (Europe/Madrid): frozen by "sale" (Black Friday). Kills and restores pass.',
  );
  for (const moment of [OPEN, NIGHT]) {
    expect((await world.planned(at(moment))).planHash).toBe(planned.planHash);
  }

  const done = await world.applied({}, by(NIGHT));

  expect(linesOf(done)).toEqual([
    'flag/shop@staging',
    // The next window is frozen.
    'flag/shop@production window-closed 2026-11-30T08:00:00.000Z',
  ]);
  expect(done.converged).toBe(true);
  expect(world.writes().map(({ path }) => path.includes(world.live.production))).toEqual([false]);
  const later = await world.applied({}, by('2026-11-30T08:00:00Z'));
  expect(outcomesOf(later)).toEqual(['flag/shop@production applied']);
});

it('a window that closes while a run is under way lets no further step pass, and the rest goes when it opens again', async () => {
  const world = await storyOf();
  let reads = 0;
  // The plan is made just before five; the step to production would be sent after.
  const now = (): number => {
    reads += 1;
    return Date.parse('2026-11-23T15:59:59Z') + (reads > 4 ? 60_000 : 0);
  };

  const done = await world.applied({ concurrency: 1 }, { now });

  expect(outcomesOf(done)).toEqual(['flag/shop@production skipped', 'flag/shop@staging applied']);
  expect(done.outcomes.get('flag/shop@production')).toEqual({
    status: 'skipped',
    why: 'outside the window "office" by now; it goes at 2026-11-30T09:00+01:00 (Europe/Madrid)',
    windowClosed: true,
    until: '2026-11-30T08:00:00.000Z',
  });
  expect(done).toMatchObject({ converged: true, verdict: { whole: 'waits' } });
  expect(exitCodeOf(done, new AbortController().signal)).toBe(0);
  expect(summaryLine(world.reportOf(done))).toBe(
    'Applied: 0 created, 1 updated, 0 deleted; 1 skipped; 1 unchanged. Waiting: flag/shop@production waiting for a window until 2026-11-30T08:00:00.000Z; 2 other objects in sync.',
  );
});

it('what the operator lets pass is said in the comment of the writes that would have waited, and of no others', async () => {
  const world = await storyOf();

  const done = await world.applied({ overrideWindow: 'INC-7, ana agreed' }, by(FROZEN));

  expect(linesOf(done)).toEqual(['flag/shop@staging', 'flag/shop@production']);
  expect(world.reportOf(done).closed?.map(closedText)).toEqual([
    'production is closed to changes until 2026-11-30T09:00+01:00 (Europe/Madrid): frozen by "sale" (Black Friday). Changes go all the same: INC-7, ana agreed.',
  ]);
  const comments = world.writes().map(({ query }) => query['comment']);
  expect(comments[0]).not.toContain('INC-7');
  expect(comments[1]).toMatch(
    /^Sent although frozen by "sale" \(Black Friday\): INC-7, ana agreed\n\n[0-9a-f]{7,} .*Ramp the shop/,
  );
});
