import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../../src/model/ref.js';
import type { Reason } from '../../../../src/model/plan.js';
import { plannedKind } from '../../../../src/plan/objects/kinds.js';

/** An object in its workspace, or in an environment. */
const place = (kind: Kind, name: string, environment: string | null = null) =>
  [kind, { kind, name, environment }] as const;

const SHOP = place('flag', 'shop');
const SHOP_LIVE = place('flag', 'shop', 'live');
const STAFF = place('segment', 'staff');
const USER = place('identities', 'user', 'live');

describe('the files of an object', () => {
  it.each<[string, typeof SHOP, Reason, boolean]>([
    ['flags/shop.yaml', SHOP, 'commit', true],
    ['flags/of/a/team/shop.yaml', SHOP, 'commit', true],
    ['flags/shop@live.yaml', SHOP_LIVE, 'commit', true],
    ['flags/shop.yaml', SHOP_LIVE, 'commit', true],
    ['flags/shop@staging.yaml', SHOP_LIVE, 'commit', false],
    ['flags/shop@live.yaml', SHOP, 'commit', false],
    ['flags/workshop.yaml', SHOP, 'commit', false],
    ['segments/shop.yaml', SHOP, 'commit', false],
    ['kills/live.yaml', SHOP_LIVE, 'kill', true],
    ['kills/live.yaml', SHOP_LIVE, 'restore', true],
    ['kills/live.yaml', SHOP_LIVE, 'commit', false],
    ['kills/staging.yaml', SHOP_LIVE, 'kill', false],
    ['segments/staff.yaml', STAFF, 'commit', true],
    ['segments/staff.live.keys', STAFF, 'commit', true],
    ['segments/people/staff.keys', STAFF, 'commit', true],
    ['segments/staff.md', STAFF, 'commit', false],
    ['segments/other.keys', STAFF, 'commit', false],
    ['flags/staff.yaml', STAFF, 'commit', false],
    ['identities/people.yaml', USER, 'commit', true],
    ['flags/user.yaml', USER, 'commit', false],
  ])('%s of %j after a %s: %s', (path, [kind, ref], reason, isOwn) => {
    expect(plannedKind(kind).files.isOwn(path, ref, reason)).toBe(isOwn);
  });

  it.each<[string, typeof SHOP, boolean]>([
    ['kills/live.yaml', SHOP, true],
    ['flags/shop@env-1.yaml', SHOP, true],
    ['flags/of/shop@env-1.yaml', SHOP, true],
    ['flags/workshop@env-1.yaml', SHOP, false],
    ['segments/shop@env-1.yaml', SHOP, false],
    ['flags/shop.yaml', SHOP, false],
    ['segments/shared.keys', STAFF, true],
    ['segments/other.yaml', STAFF, false],
    ['identities/people.yaml', USER, true],
    ['segments/user.yaml', USER, false],
  ])('%s may shape %j: %s', (path, [kind, ref], mayShape) => {
    expect(plannedKind(kind).files.mayShape(path, ref)).toBe(mayShape);
  });
});
