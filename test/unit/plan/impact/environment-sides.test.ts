import { describe, expect, it } from 'vitest';
import type { ActualActivation, ActualFlag } from '../../../../src/model/actual.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { Change } from '../../../../src/model/plan.js';
import { keyList, type KeyDigest } from '../../../../src/model/segment-keys.js';
import type { State } from '../../../../src/model/state.js';
import { environmentSides } from '../../../../src/plan/impact/environment-sides.js';
import type { ServedDefinition } from '../../../../src/plan/impact/served-definition.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import {
  aDesired,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
  wireSegment,
  type Said,
} from '../../../support/builders.js';
import { flagState, inputOf, segmentState } from '../../../support/planning.js';
import { aChange, aField, aPlan, keyChange } from '../../../support/plan-builder.js';

/** What each flag serves before and after, and the keys of each list; `*` marks what the plan changes itself. */
function sideLines(input: PlanInput, ...changes: Change[]): string[] {
  return environmentSides(aPlan({ changes }), input).flatMap(({ environment, flags, lists }) => [
    environment.name,
    ...[...flags].map(([name, { before, after, change }]) => {
      return `${change ? '* ' : ''}${name}: ${shareOf(before)} → ${shareOf(after)}`;
    }),
    ...[...lists].map(([name, { before, added, removed, change }]) => {
      const moved = [...added.map((key) => `+${key}`), ...removed.map((key) => `-${key}`)];
      return `${change ? '* ' : ''}${name}: ${[...before, ...moved].join(' ')}`;
    }),
  ]);
}

function shareOf(served: ServedDefinition | null): string {
  if (!served) return 'none';
  const { otherwise, targets } = served;
  const on = otherwise.places.filter((each) => each?.treatment === 'on').length;
  return [`${on} %`, ...targets.keys()].join(' ');
}

const STAFF = aChange('segment/staff@production', 'update', { keys: keyChange(['ana']) });

describe('the flags that a plan concerns', () => {
  const asks = inSegment('staff');
  const live = (places: Readonly<Record<string, Definition>>) => [liveFlag('shop', places)];
  const byState = (spec: Definition) => flagState('shop', { production: { spec } });
  const elsewhere = flagState('shop', { staging: { spec: asks } });
  const halfMade = flagState('shop', { production: {} });
  const more = { ...asks, ...onShare(20) };
  const unsaid: Said = { ...asks, unsaid: ['rules'] };
  const [IN_SHOP, UNKNOWN] = [['shop: 0 % → 0 %'], []];

  it.each<[string, Said | null, [string, ActualFlag][], State, string[]]>([
    ['ask about a change', null, live({ production: asks }), NO_STATE, IN_SHOP],
    ['ask about it in another environment', null, live({ staging: asks }), NO_STATE, []],
    ['have its name', null, [liveFlag('staff', { production: {} })], NO_STATE, []],
    ['ask by the state, and no more', {}, live({ production: {} }), byState(asks), []],
    ['unread, ask by the state', onShare(10), [], byState(more), ['shop: 20 % → 20 %']],
    ['unread, ask by git alone', unsaid, [], byState(onShare(20)), ['shop: 20 % → 20 %']],
    ['unread, ask by the state, but are not in git', null, [], byState(asks), UNKNOWN],
    ['unread, ask by the state of another environment', {}, [], elsewhere, UNKNOWN],
    ['unread, are half made', asks, [], halfMade, UNKNOWN],
  ])('%s', (_situation, said, flags, state, lines) => {
    const git = said ? [desiredFlag('shop', { environments: { production: said } })] : [];
    const input = inputOf(aDesired({ flags: git }), { flags }, { state });

    expect(sideLines(input, STAFF)).toEqual(['production', ...lines]);
  });

  it('are those of an environment that changes', () => {
    const places = { production: onShare(10), staging: onShare(20) };
    const flags = [liveFlag('shop', places), liveFlag('cart', places)];
    const fields = [aField('/defaultRule', null, onShare(50).defaultRule)];
    const shop = aChange('flag/shop@staging', 'update', { fields });
    const cart = aChange('flag/cart@production', 'delete');
    const lines = sideLines(inputOf(aDesired(), { flags }), shop, cart);

    const inStaging = ['staging', '* shop: 20 % → 50 %'];
    expect(lines).toEqual([...inStaging, 'production', '* cart: 10 % → none']);
    expect(sideLines(inputOf(aDesired(), { flags }), shop)).toEqual(inStaging);
  });
});

describe('the keys of a segment', () => {
  const keys = ['ana', 'bob'];
  const { digest } = keyList(keys);
  const others = keyList(['cyd']).digest;
  const KNOWN = ['ana bob'];
  const byOthers = { production: undefined };
  const wanted = { production: keys };
  const listed = { active: true, keys: keyList(keys) };
  const counted = { active: true, assumedKeys: digest };
  const miscounted = { active: true, assumedKeys: others };

  function keysState(remembered: KeyDigest | undefined, place = 'production'): State {
    return segmentState('staff', { [place]: { spec: remembered ? { keys: remembered } : {} } });
  }

  it.each<[string, ActualActivation | null, Parameters<typeof desiredSegment>[1], State, string[]]>(
    [
      ['as they were read', listed, { production: [] }, NO_STATE, KNOWN],
      ['of none that is active', { active: false }, wanted, NO_STATE, ['']],
      ['of none that is active, for others to fill', { active: false }, byOthers, NO_STATE, []],
      ['counted, as many as in git', counted, wanted, NO_STATE, KNOWN],
      ['counted, and others than in git', miscounted, wanted, keysState(digest), []],
      ['not asked for, and remembered', { active: true }, wanted, keysState(digest), KNOWN],
      ['not read, and remembered', null, wanted, keysState(digest), KNOWN],
      ['not read, of which git changes those remembered', null, wanted, keysState(others), []],
      ['not read, remembered elsewhere', null, wanted, keysState(digest, 'staging'), []],
      ['not read, and not remembered', null, wanted, NO_STATE, []],
      ['not read, left to others by git before', null, wanted, keysState(undefined), []],
      ['not read, left to others by git', null, byOthers, keysState(digest), []],
      ['not read, in git elsewhere', null, {}, keysState(digest), []],
    ],
  )('%s', (_situation, live, places, state, lists) => {
    const desired = aDesired({ segments: [desiredSegment('staff', places)] });
    const environments = new Map(live && [['production', live]]);
    const staff = { segment: wireSegment('staff'), environments };
    const input = inputOf(desired, { segments: live ? [['staff', staff]] : [] }, { state });
    const lines = sideLines(input, aChange('segment/any@production', 'update'));

    expect(lines).toEqual(['production', ...lists.map((list) => `segment/staff: ${list}`)]);
  });

  it('come and go with a change, and those that rules list stay', () => {
    const isListed = { type: 'IN_LIST_STRING', strings: ['ana'] };
    const rules = inSegment('beta').rules.map((rule) => ({ ...rule, matchers: [isListed] }));
    const input = inputOf(aDesired(), {
      flags: [liveFlag('shop', { production: { rules } })],
      segments: [
        liveSegment('staff', { production: keys }),
        liveSegment('beta', { production: ['cyd'] }),
      ],
    });
    const lines = sideLines(
      input,
      aChange('segment/staff@production', 'update', { keys: keyChange(['dan'], ['bob']) }),
      aChange('segment/beta@production', 'deactivate', { keys: keyChange([], ['cyd']) }),
      aChange('flag/shop@production', 'delete'),
    );

    expect(lines).toEqual([
      'production',
      '* shop: 0 % → none',
      'keys/{"strings":["ana"],"type":"IN_LIST_STRING"}: ana',
      '* segment/staff: ana bob +dan -bob',
      '* segment/beta: cyd -cyd',
    ]);
  });
});
