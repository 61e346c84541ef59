import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import { planText } from '../../../src/report/text/plan.js';
import type { ServiceOptions } from '../../../src/service/service.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  toldOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const CONFIG = `${PIPELINE_CONFIG}prune: true
onRemove: archive
guards: { maxDeletePercent: 100 }
`;

/** Only in production, and for the keys of a segment. */
const BETA = `flag: beta
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production: { rules: [{ if: { segment: testers }, serve: "on" }], defaultRule: "off" }
`;
const TESTERS = 'segment: testers\nenvironments:\n  production: { keys: [ana] }\n';

/** A service that has `shop`, and one flag that stays. */
async function begin(
  options: Partial<ServiceOptions> = {},
  files: Record<string, string> = {},
): Promise<PipelineWorld> {
  const shop = { 'flags/shop.yaml': flagSpec('shop'), 'flags/stays.yaml': flagSpec('stays') };
  return appliedWorld({ 'flagkeel.yaml': CONFIG, ...shop, ...files }, options);
}

async function withoutShop(world: PipelineWorld): Promise<Applied> {
  world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });
  return world.applied();
}

function written(world: PipelineWorld): string[] {
  return world.writes().map(({ method, path, status }) => {
    return `${method} ${path.split('/').slice(7).join('/')} ${String(status)}`;
  });
}

async function statusOf({ live }: PipelineWorld, method: string, path: string): Promise<number> {
  return (await live.call(method, `/splits/ws/${live.id}/${path}`)).status;
}

/** A service whose endpoint to archive answers with what `status` returns. */
function answering(status: () => number): Partial<ServiceOptions> {
  const middleware =
    (next: RequestListener): RequestListener =>
    (request, response) => {
      if (request.url?.includes('/archive') !== true) {
        next(request, response);
        return;
      }
      const code = status();
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code, message: 'nothing here', details: '' }));
    };
  return { middleware };
}

describe('a flag that git removes where flags are archived', () => {
  it('goes by one request, with its definitions, under the words of the commit', async () => {
    const world = await begin();

    const done = await withoutShop(world);

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
  });

  it('comes back with its definitions by hand, and is taken over again', async () => {
    const world = await begin();
    await withoutShop(world);
    world.repository.commit('Shop again', { 'flags/shop.yaml': flagSpec('shop', { on: 30 }) });

    const refused = await world.applied();

    expect(refused.outcomes.get('flag/shop')).toMatchObject({
      status: 'failed',
      error: {
        code: 'NAME_ARCHIVED',
        status: 409,
        message: 'cannot create flag "shop": the service keeps an archived flag of that name',
      },
    });
    expect(refused.verdict.objects.get('flag/shop')).toMatchObject({
      is: 'failed',
      remedy: { ways: [{ run: ['reconcile', '--adopt', '--only', 'flag/shop'] }, {}] },
    });

    await world.live.ok('POST', `/splits/ws/${world.live.id}/shop/unarchive`);
    expect((await world.applied({ adopt: true })).converged).toBe(true);
    expect((await world.applied()).plan.changes).toEqual([]);
  });

  it('is archived once, though the answer is lost', async () => {
    const world = await begin();
    world.service.failNext({ method: 'POST', path: /\/archive/ }, 'reset-after');

    const done = await withoutShop(world);

    expect(toldOf(done)[0]).toBe('archive flag/shop applied');
    expect(done.converged).toBe(true);
    const rows = await world.service.audit({ name: 'shop' });
    const whole = rows.filter(({ action, environment }) => action === 'archive' && !environment);
    expect(whole).toHaveLength(1);
  });

  it('goes before the segment that its definition names, which is deleted', async () => {
    const files = { 'flags/beta.yaml': BETA, 'segments/testers.yaml': TESTERS };
    const world = await begin({}, files);
    world.repository.commit('No beta', { 'flags/beta.yaml': null, 'segments/testers.yaml': null });

    const done = await world.applied();

    expect(done.converged).toBe(true);
    const writes = written(world).map((line) => line.split(' ')[1]);
    expect(writes[0]).toBe('beta/archive');
    expect(toldOf(done)).toContain('delete segment/testers applied');
  });

  it('is killed first where the commit says so too, and planned once', async () => {
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
    expect(await statusOf(world, 'GET', 'shop')).toBe(404);
  });

  it('stays whole where one environment is not looked at', async () => {
    const world = await begin();
    world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });

    const done = await world.applied({ environment: ['staging'] });

    expect(toldOf(done)).toEqual([
      'withheld flag/shop still-in-use',
      'withheld flag/shop@staging needs-withheld',
    ]);
    expect(written(world)).toEqual([]);
  });
});

it('deletes nothing on a service that cannot archive, and tells the way out', async () => {
  let status = 404;
  const world = await begin(answering(() => status));
  world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });

  for (status of [404, 405, 501]) {
    const done = await world.applied();

    const outcome = done.outcomes.get('flag/shop');
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'NOT_ON_SERVICE' } });
    expect(outcome?.status === 'failed' && outcome.error.message).toContain('`onRemove: delete`');
    expect(done.outcomes.get('flag/shop@staging')).toEqual({
      status: 'skipped',
      why: 'needs flag/shop, which failed',
    });
    expect(done.converged).toBe(false);
    expect(await statusOf(world, 'GET', 'shop')).toBe(200);
  }
});

it('every report says that it is archived, and the hash of the plan is another', async () => {
  const world = await begin();
  world.repository.commit('Shop is done with', { 'flags/shop.yaml': null });
  const report = await world.reported();

  const text = planText(report, { color: false, width: 200, showKeys: false });
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

  world.repository.commit('Delete it', { 'flagkeel.yaml': CONFIG.replace('archive', 'delete') });
  const deletion = await world.reported();
  expect(planDocument(deletion).changes[0]).not.toHaveProperty('archive');
  expect(deletion.planHash).not.toBe(report.planHash);
});
