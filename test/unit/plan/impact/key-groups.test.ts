import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { FlagSides, ListSides } from '../../../../src/plan/impact/environment-sides.js';
import {
  keyGroups,
  keyIndex,
  placedGroups,
  type Audience,
  type KeyGroup,
} from '../../../../src/plan/impact/key-groups.js';
import { servedDefinition } from '../../../../src/plan/impact/served-definition.js';
import { DEFINITION, onShare } from '../../../support/builders.js';

/** List → its keys before, those that it gains, and those that it loses. */
type Lists = Readonly<Record<string, readonly [string, string?, string?]>>;
type Flags = Readonly<Record<string, readonly [Definition | null, Definition | null]>>;

function listsOf(lists: Lists): ReadonlyMap<string, ListSides> {
  const keys = (text = ''): string[] => text.split(' ').filter((key) => key !== '');
  return new Map(
    Object.entries(lists).map(([name, [before, added, removed]]) => {
      return [name, { before: keys(before), added: keys(added), removed: keys(removed) }];
    }),
  );
}

function flagsOf(flags: Flags, seeded: readonly string[] = []): ReadonlyMap<string, FlagSides> {
  const served = (said: Definition | null) =>
    said && servedDefinition({ fields: { ...DEFINITION, ...said }, segments: {} });
  return new Map(
    Object.entries(flags).map(([name, [before, after]]) => {
      const seeds = seeded.includes(name) ? { seeds: { seed: 7, allocationSeed: 8 } } : {};
      return [name, { before: served(before), after: served(after), ...seeds }];
    }),
  );
}

/** `LISTS (targets): COUNT, named …; its keys` */
function groupLine(group: KeyGroup): string {
  const lists = [...group.lists].map(([list, standing]) => `${list} ${standing}`).join(', ');
  const targets = [...group.targets].map(([flag, { before, after }]) => {
    const [from, to] = [before, after].map((each) => each?.unallocated?.treatment ?? '-');
    return ` ${flag} ${from ?? ''}→${to ?? ''}`;
  });
  const keys = (group.keys?.() ?? []).toSorted().join(' ');
  return `${lists}${targets.join('')}: ${group.count} [${group.names.join(' ')}] ${keys}`;
}

function linesOf(lists: Lists, flags: Flags = {}, asked = Object.keys(lists)): string[] {
  const audience = { lists: new Set(asked), flags: flagsOf(flags) };
  return keyGroups(keyIndex(listsOf(lists)), audience).map(groupLine);
}

const SHOP: Flags = { shop: [{ targets: { on: ['ana'] } }, { targets: { off: ['ana'] } }] };

describe('the groups of listed keys', () => {
  it.each<[string, Lists, Flags, string[]]>([
    ['are none of an empty list', { one: [''] }, {}, []],
    ['are one of a list that stays', { one: ['ana bob'] }, {}, ['one kept: 2 [] ana bob']],
    ['are one of a list in any order', { one: ['bob ana'] }, {}, ['one kept: 2 [] ana bob']],
    [
      'tell apart what a list keeps, gains and loses, the largest first',
      { one: ['ana bob cleo dan eve', 'fay gus', 'eve'] },
      {},
      ['one kept: 4 [] ana bob cleo dan', 'one added: 2 [] fay gus', 'one removed: 1 [] eve'],
    ],
    ['count what a list gains alone', { one: ['', 'ana'] }, {}, ['one added: 1 [] ana']],
    ['count what a list loses alone', { one: ['ana', '', 'ana'] }, {}, ['one removed: 1 [] ana']],
    [
      'are the combinations that occur',
      { two: ['ana bob cleo'], one: ['bob cleo dan', 'ana', 'cleo'], three: [''] },
      {},
      [
        'one kept: 1 [] dan',
        'one added, two kept: 1 [] ana',
        'one kept, two kept: 1 [] bob',
        'one removed, two kept: 1 [] cleo',
      ],
    ],
    [
      'hold a target apart, by name',
      { one: ['ana bob'] },
      SHOP,
      ['one kept shop on→off: 1 [ana] ana', 'one kept: 1 [] bob'],
    ],
    [
      'hold a target apart that no list has',
      { one: ['bob cleo'] },
      SHOP,
      ['one kept: 2 [] bob cleo', ' shop on→off: 1 [ana] ana'],
    ],
    [
      'are no more than the targets where these are all keys',
      { one: ['ana'] },
      SHOP,
      ['one kept shop on→off: 1 [ana] ana'],
    ],
    [
      'hold targets together that get the same, whatever the order',
      {},
      {
        shop: [{ targets: { on: ['bob', 'ana'] } }, null],
        cart: [null, { targets: { on: ['ana'], off: ['cleo'] } }],
      },
      [
        ' cart -→on shop on→-: 1 [ana] ana',
        ' shop on→-: 1 [bob] bob',
        ' cart -→off: 1 [cleo] cleo',
      ],
    ],
    [
      'hold many targets in one group',
      {},
      { shop: [{ targets: { on: ['bob', 'ana'] } }, { targets: { on: ['ana', 'bob'] } }] },
      [' shop on→on: 2 [ana bob] ana bob'],
    ],
    [
      'hold several targets of one list apart',
      { one: ['ana bob cleo'] },
      { shop: [{ targets: { on: ['ana', 'bob'] } }, null] },
      ['one kept shop on→-: 2 [ana bob] ana bob', 'one kept: 1 [] cleo'],
    ],
  ])('%s', (_situation, lists, flags, expected) => {
    expect(linesOf(lists, flags)).toEqual(expected);
  });

  it.each<[string, Lists, string[], string[]]>([
    [
      'join keys that only another list tells apart',
      { one: ['ana bob cleo'], two: ['bob'] },
      ['one'],
      ['one kept: 3 [] ana bob cleo'],
    ],
    [
      'leave out keys of other lists alone',
      { one: ['ana'], two: ['bob'] },
      ['one'],
      ['one kept: 1 [] ana'],
    ],
  ])('%s', (_situation, lists, asked, expected) => {
    expect(linesOf(lists, {}, asked)).toEqual(expected);
  });
});

describe('the parts of a group by their places', () => {
  /** Their buckets by seed 7 are 32, 35, 53, 3 and 24; by seed 8 they draw 82, 89, 40, 69 and 37. */
  const KEYS = ['ana', 'bob', 'cleo', 'dan', 'eve'];
  const GROUP: KeyGroup = {
    lists: new Map([['one', 'kept']]),
    targets: new Map(),
    count: KEYS.length,
    names: [],
    keys: () => KEYS,
  };

  function parts(flags: Flags, most = 100, group = GROUP, seeded = ['shop', 'cart']): string[] {
    const audience: Audience = { lists: new Set(), flags: flagsOf(flags, seeded) };
    return placedGroups(group, audience, most).map(({ count, names, places, lists }) => {
      return `${count} ${names.join(' ')}, by ${[...(places?.keys() ?? [])].join(' ')} of ${lists.size}`;
    });
  }

  it.each<[string, Flags, string[]]>([
    [
      'end where a treatment ends',
      { shop: [onShare(30), onShare(30)] },
      ['3 ana bob cleo, by shop of 1', '2 dan eve, by shop of 1'],
    ],
    [
      'end where a treatment ends before or after',
      { shop: [onShare(30), onShare(50)] },
      ['2 ana bob, by shop of 1', '1 cleo, by shop of 1', '2 dan eve, by shop of 1'],
    ],
    [
      'end where the shares of a rule end',
      { shop: [null, { rules: [{ matchers: [], buckets: onShare(3).defaultRule }] }] },
      ['4 ana bob cleo eve, by shop of 1', '1 dan, by shop of 1'],
    ],
    [
      'end where the allocation ends',
      { shop: [null, { ...onShare(100), trafficAllocation: 69 }] },
      ['2 ana bob, by shop of 1', '3 cleo dan eve, by shop of 1'],
    ],
    [
      'are those of all flags that are asked',
      { shop: [null, onShare(30)], cart: [onShare(3), null] },
      ['3 ana bob cleo, by shop cart of 1', '1 dan, by shop cart of 1', '1 eve, by shop cart of 1'],
    ],
    ['are none where a flag serves all the same', { shop: [onShare(0), onShare(100)] }, []],
    ['are none where the seed is unknown', { other: [onShare(30), onShare(30)] }, []],
  ])('%s', (_situation, flags, expected) => {
    expect(parts(flags)).toEqual(expected);
  });

  it('are none where there would be too many parts or keys', () => {
    const flags: Flags = { shop: [onShare(30), onShare(50)] };

    expect(parts(flags, 3)).toHaveLength(3);
    expect(parts(flags, 2)).toEqual([]);
    expect(parts(flags, 3, { ...GROUP, count: 100_000 })).toHaveLength(3);
    expect(parts(flags, 3, { ...GROUP, count: 100_001 })).toEqual([]);
  });
});
