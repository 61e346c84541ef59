import { expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import { appliedWorld, flagSpec, withheldIn } from '../../support/pipeline-world.js';

const PROTECTED = `${flagSpec('shop')}protect: true\n`;
function heldIn({ plan }: Applied): string[] {
  return plan.withheld.map(({ action, id, why }) => `${action} ${id}: ${why}`);
}

const SHOP = [
  'delete flag/shop: protected',
  'delete flag/shop@production: protected',
  'delete flag/shop@staging: protected',
];

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
