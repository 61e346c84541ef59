import { expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import {
  appliedWorld,
  flagSpec,
  withheldIn,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const PROTECTED = `${flagSpec('shop')}protect: true\n`;
const SEGMENT = 'segment: staff\nprotect: true\nenvironments: { staging: { keys: [ana] } }\n';

/** A protected flag and a protected segment that are on the service, beside a flag that is not. */
async function storyOf(): Promise<PipelineWorld> {
  const world = await appliedWorld({
    'flags/shop.yaml': flagSpec('shop'),
    'flags/cart.yaml': flagSpec('cart'),
    'segments/staff.yaml': SEGMENT,
  });
  // The base comes from the commit before: what counts is what the specs said last.
  world.repository.commit('Protect', { 'flags/shop.yaml': PROTECTED });
  return world;
}

function heldIn({ plan }: Applied): string[] {
  return plan.withheld.map(({ action, id, why }) => `${action} ${id}: ${why}`);
}

const SHOP = [
  'delete flag/shop: protected',
  'delete flag/shop@production: protected',
  'delete flag/shop@staging: protected',
];

it('protection goes by a commit of its own, and the object by the next', async () => {
  const world = await storyOf();
  const { repository } = world;
  const away = { 'flags/shop.yaml': null, 'segments/staff.yaml': null };
  repository.commit('Away at once', away);
  expect(heldIn(await world.applied({ prune: true }))).toEqual([
    ...SHOP,
    'delete segment/staff: protected',
    'deactivate segment/staff@staging: protected',
  ]);

  repository.commit('Bring them back, unprotected', {
    'flags/shop.yaml': flagSpec('shop'),
    'segments/staff.yaml': SEGMENT.replace('protect: true\n', ''),
  });
  await world.applied({ prune: true });
  repository.commit('Away', away);
  const done = await world.applied({ prune: true });

  expect(heldIn(done)).toEqual([]);
  expect(done.plan.changes.map(({ id }) => id).sort()).toEqual([
    'flag/shop',
    'flag/shop@production',
    'flag/shop@staging',
    'segment/staff',
    'segment/staff@staging',
  ]);
});

it('protection that came to the branch beside a removal holds it', async () => {
  const files = { 'flags/cart.yaml': flagSpec('cart'), 'flags/shop.yaml': flagSpec('shop') };
  const world = await appliedWorld(files);
  const { repository } = world;
  repository.git('checkout', '--quiet', '-b', 'work');
  repository.commit('Away', { 'flags/shop.yaml': null });
  repository.git('checkout', '--quiet', 'main');
  repository.commit('Protect', { 'flags/shop.yaml': PROTECTED });
  repository.git('merge', '--quiet', '--no-ff', '-s', 'ours', '-m', 'Merge work', 'work');
  repository.git('rm', '--quiet', 'flags/shop.yaml');
  repository.git('commit', '--quiet', '--amend', '--no-edit');

  expect(heldIn(await world.applied({ prune: true }))).toEqual(SHOP);
});

it('a removal that is not committed yet is planned as the commit will be', async () => {
  const world = await appliedWorld({ 'flags/shop.yaml': flagSpec('shop') });
  world.repository.write({ 'flags/shop.yaml': null, 'flags/cart.yaml': flagSpec('cart') });
  const before = await world.planned({ prune: true });
  world.repository.commit('Away', {});

  expect(withheldIn(before)).toEqual([]);
  expect(before.plan.changes).toEqual((await world.planned({ prune: true })).plan.changes);
});
