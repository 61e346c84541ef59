import { expect, it } from 'vitest';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import type { ServiceOptions } from '../../../src/service/service.js';
import { refuse } from '../../support/answers.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  textOf,
  toldOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const CONFIG = `${PIPELINE_CONFIG}prune: true
onRemove: archive
guards: { maxDeletePercent: 100 }
`;

/** A service that has `shop`, and one flag that stays. */
async function begin(options: Partial<ServiceOptions> = {}): Promise<PipelineWorld> {
  const files = { 'flags/shop.yaml': flagSpec('shop'), 'flags/stays.yaml': flagSpec('stays') };
  return appliedWorld({ 'flagkeel.yaml': CONFIG, ...files }, options);
}

function written(world: PipelineWorld): string[] {
  return world.writes().map(({ method, path, status }) => {
    return `${method} ${path.split('/').slice(7).join('/')} ${String(status)}`;
  });
}

async function statusOf({ live }: PipelineWorld, flag: string): Promise<number> {
  return live.status('GET', `/splits/ws/${live.id}/${flag}`);
}

it('a flag that git removes where flags are archived goes by one request, under the words of the commit, as every report says, and keeps its name', async () => {
  const world = await begin();
  world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });

  const report = await world.reported();
  const text = textOf(report);
  expect(text).toContain('will be archived');
  expect(text).toContain('Plan: 0 to create, 0 to update, 0 to delete, 3 to archive, 1 request');
  const markdown = planMarkdown(report);
  expect(markdown).toContain('archives 3');
  expect(markdown).toContain('**archived**');
  expect(markdown).not.toContain('deleted');
  const document = planDocument(report);
  expect(document.changes.map(({ action, archive }) => [action, archive])).toEqual(
    Array.from({ length: 3 }, () => ['delete', true]),
  );
  expect(document.summary).toMatchObject({ delete: 3, requests: 1 });

  const done = await world.applied();
  expect(toldOf(done)).toEqual([
    'archive flag/shop applied',
    'archive flag/shop@staging applied',
    'archive flag/shop@production applied',
  ]);
  expect(written(world)).toEqual(['POST shop/archive 200']);
  expect(done.converged).toBe(true);
  const [row] = await world.service.audit({ name: 'shop' });
  expect(row).toMatchObject({ action: 'archive', title: 'Shop is done with' });
  expect((await world.applied()).plan.changes).toEqual([]);

  world.repository.commit('Shop again', { 'flags/shop.yaml': flagSpec('shop', { on: 30 }) });
  const message = 'cannot create flag "shop": the service keeps an archived flag of that name';
  expect((await world.applied()).outcomes.get('flag/shop')).toMatchObject({
    status: 'failed',
    error: { code: 'NAME_ARCHIVED', status: 409, message },
  });
});

it('a flag that is archived is killed first where the commit says so too, and planned once', async () => {
  const world = await begin();
  const files = { 'flags/shop.yaml': null, ...killList('{ shop: { reason: INC-1 } }') };
  world.repository.commit('Kill shop, and away with it', files);

  const done = await world.applied();

  const ids = done.plan.changes.map(({ id }) => id);
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  expect(written(world).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    expect.stringMatching(/^PATCH shop\/environments/),
    'POST shop/archive',
  ]);
  expect(await statusOf(world, 'shop')).toBe(404);
});

it('nothing is deleted on a service that cannot archive, and the way out is told', async () => {
  const world = await begin({
    middleware: (next) => (request, response) => {
      if (request.url?.includes('/archive') === true) refuse(response, 404, 'nothing here');
      else next(request, response);
    },
  });
  world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });
  const { planHash } = await world.planned();

  const done = await world.applied();

  const message = expect.stringContaining('`onRemove: delete`') as string;
  const error = { code: 'NOT_ON_SERVICE', message };
  expect(done.outcomes.get('flag/shop')).toMatchObject({ status: 'failed', error });
  expect(done.outcomes.get('flag/shop@staging')).toEqual({
    status: 'skipped',
    why: 'needs flag/shop, which failed',
  });
  expect(done.converged).toBe(false);
  expect(await statusOf(world, 'shop')).toBe(200);

  world.repository.commit('Delete it', { 'flagkeel.yaml': CONFIG.replace('archive', 'delete') });
  const deletion = await world.reported();
  expect(planDocument(deletion).changes[0]).not.toHaveProperty('archive');
  expect(deletion.planHash).not.toBe(planHash);
});
