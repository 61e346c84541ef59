import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import { plan } from '../../../src/reconcile/reconcile.js';
import { reportOf } from '../../../src/reconcile/result.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import { planText } from '../../../src/report/text/plan.js';
import { lawSettings } from '../../property/law-settings.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 2, 1);
const CONFIG = `${PIPELINE_CONFIG}tombstone: { coolDown: 2h }\n`;

const settings = lawSettings('deletion in two steps', 8);

/** A world by a clock of its own; a run at an hour after its start. */
async function story(config = CONFIG) {
  const world = await pipelineWorld();
  world.repository.commit('Start', {
    'flagkeel.yaml': config,
    'flags/shop.yaml': flagSpec('shop'),
    'flags/cart.yaml': flagSpec('cart'),
  });
  await world.applied();
  const at = async (hours: number, flags: { prune?: boolean } = {}): Promise<Applied> => {
    const ms = START + hours * HOUR_MS;
    return world.applied({ prune: true, at: ms, ...flags }, { now: () => ms });
  };
  return { world, at };
}

function heldIn({ plan }: Applied): string[] {
  return [...new Set(plan.withheld.map(({ why, wayOut }) => `${why}: ${wayOut}`))];
}

async function isThere({ live }: PipelineWorld, flag = 'shop'): Promise<boolean> {
  const { status } = await live.call('GET', `/splits/ws/${live.id}/${flag}`);
  return status === 200;
}

it('what left the specs is marked, told, and deleted once the cool-down is over', async () => {
  const { world, at } = await story();
  const commit = world.repository.commit('Away', { 'flags/shop.yaml': null });

  expect(heldIn(await at(0))).toEqual([
    'cooling-down: no run remembers that it went; the first that prunes marks it, and it will be deleted 2h after that, unless it comes back',
  ]);
  const marked = await at(1.9);
  expect(heldIn(marked)).toEqual([
    `cooling-down: will be deleted after 2026-03-01T02:00:00.000Z, unless it comes back (marked 2026-03-01T00:00:00.000Z, removed by ${commit.slice(0, 8)})`,
  ]);
  expect(marked.plan.withheld.map(({ until }) => until)).toEqual(
    Array.from({ length: 3 }, () => '2026-03-01T02:00:00.000Z'),
  );
  expect(await isThere(world)).toBe(true);

  const done = await at(2);
  expect(done.plan.changes.map(({ id }) => id).sort()).toEqual([
    'flag/shop',
    'flag/shop@production',
    'flag/shop@staging',
  ]);
  expect(await isThere(world)).toBe(false);
  expect(await isThere(world, 'cart')).toBe(true);
});

it('reports say when it will be deleted', async () => {
  const { world, at } = await story();
  world.repository.commit('Away', { 'flags/shop.yaml': null });
  await at(0);
  await using run = await world.opened({ dryRun: true, prune: true, at: START + HOUR_MS });
  const report = reportOf(await plan(run.context), run);

  const due = 'will be deleted after 2026-03-01T02:00:00.000Z';
  expect(planText(report, { color: false, width: 200, showKeys: false })).toContain(due);
  expect(planMarkdown(report).replaceAll('&#58;', ':')).toContain(due);
});

it('it is not deleted without pruning, however long ago it was marked', async () => {
  const { world, at } = await story();
  world.repository.commit('Away', { 'flags/shop.yaml': null });
  await at(0);

  const { plan } = await at(99, { prune: false });

  expect(new Set(plan.withheld.map(({ why }) => why))).toEqual(new Set(['prune-off']));
  expect(await isThere(world)).toBe(true);
});

it('what comes back is marked no more, also where no run saw it back', async () => {
  const { world, at } = await story();
  const { repository } = world;
  repository.commit('Away', { 'flags/shop.yaml': null });
  await at(0);
  repository.commit('Back', { 'flags/shop.yaml': flagSpec('shop') });
  await at(1);
  repository.commit('Away again', { 'flags/shop.yaml': null });
  expect(heldIn(await at(3))[0]).toContain('no run remembers that it went');
  repository.commit('Back again', { 'flags/shop.yaml': flagSpec('shop') });
  repository.commit('Away for good', { 'flags/shop.yaml': null });
  expect(heldIn(await at(9))[0]).toContain('no run remembers that it went');
  expect(heldIn(await at(10))[0]).toContain('will be deleted after 2026-03-01T11:00:00.000Z');
});

it('one environment of a flag goes in two steps as well', async () => {
  const { world, at } = await story();
  const staging = flagSpec('shop').replace(/ {2}production: .*\n/, '');
  world.repository.commit('Only staging', { 'flags/shop.yaml': staging });
  await at(0);

  expect((await at(1)).plan.changes).toEqual([]);
  expect((await at(2)).plan.changes.map(({ id }) => id)).toEqual(['flag/shop@production']);
});

it('a state without the mark starts the cool-down anew', async () => {
  const { world, at } = await story();
  world.repository.commit('Away', { 'flags/shop.yaml': null });
  await at(0);
  world.repository.commit('One step', { 'flagkeel.yaml': PIPELINE_CONFIG });
  await at(1, { prune: false });
  world.repository.commit('Two steps', { 'flagkeel.yaml': CONFIG });

  expect(heldIn(await at(5))[0]).toContain('no run remembers that it went');
  expect(await isThere(world)).toBe(true);
});

/** What happens to the flag before a run, and how long after the one before that is. */
const events = fc.array(
  fc.record({
    is: fc.constantFrom('away', 'back', 'as it was'),
    hours: fc.constantFrom(0.5, 1, 1.5, 2.5),
    prune: fc.boolean(),
  }),
  { minLength: 2, maxLength: 6 },
);

it('laws: never before the cool-down, never what came back, never without pruning', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (all) => {
      const { world, at } = await story();
      let [hours, isDeclared, awaySince] = [0, true, Infinity];
      for (const { is, prune, ...after } of all) {
        hours += after.hours;
        if (is === 'away' && isDeclared) {
          world.repository.commit('Away', { 'flags/shop.yaml': null });
          [isDeclared, awaySince] = [false, hours];
        } else if (is === 'back' && !isDeclared) {
          world.repository.commit('Back', { 'flags/shop.yaml': flagSpec('shop') });
          isDeclared = true;
        }
        const wasThere = await isThere(world);
        await at(hours, { prune });
        const mayGo = !isDeclared && prune && hours - awaySince >= 2;
        if (wasThere && !mayGo) expect(await isThere(world)).toBe(true);
      }
    }),
    settings,
  );
});
