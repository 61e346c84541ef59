import { describe, expect, it } from 'vitest';
import type { Definition, Matcher, Rule } from '../../../../src/model/flag/flag.js';
import { evaluate, type Answer, type Situation } from '../../../../src/plan/impact/evaluate.js';
import { bucketOf } from '../../../../src/plan/impact/serving.js';
import {
  aDesired,
  dependingOn,
  desiredFlag,
  desiredKill,
  desiredSegment,
  inSegment,
  onShare,
  onWhere,
  serving,
} from '../../../support/builders.js';

/** Flag → its definition in production; the lists of segments are those of this file's head. */
type Flags = Readonly<Record<string, Definition>>;

function answered(flags: Flags, situation: Situation = {}, kills: readonly string[] = []): Answer {
  const desired = aDesired({
    flags: Object.entries(flags).map(([name, production]) =>
      desiredFlag(name, { environments: { production } }),
    ),
    segments: [
      desiredSegment('staff', { production: ['ana'], staging: ['gus'] }),
      desiredSegment('guests', { production: ['gus'] }, 'add-only'),
      desiredSegment('elsewhere', { production: undefined }),
      desiredSegment('idle', {}),
    ],
    kills: kills.map((place) => {
      const [flag = '', environment = ''] = place.split('@');
      return desiredKill(flag, environment);
    }),
  });
  const answer = evaluate(desired, { flag: 'shop', environment: 'production' }, situation);
  if (!answer) throw new Error('not declared');
  return answer;
}

function rule(...matchers: Matcher[]): Rule {
  return { matchers, buckets: [{ treatment: 'on', size: 100 }] };
}

function member(segment: string, negate = false): Matcher {
  return { type: 'IN_SEGMENT', string: segment, negate };
}

function served(flag: string, ...treatments: string[]): Matcher {
  return { type: 'IN_SPLIT', depends: { splitName: flag, treatments } };
}

const SPAIN: Matcher = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
const NAMED: Matcher = { type: 'IN_LIST_STRING', strings: ['ana'] };
const STARTS: Matcher = { type: 'STARTS_WITH_STRING', strings: ['a'] };

describe('whether a key meets a rule', () => {
  it.each<[string, Matcher[], Situation, boolean | null]>([
    ['by a segment that lists it', [member('staff')], { key: 'ana' }, true],
    ['by a segment that does not', [member('staff')], { key: 'bob' }, false],
    ['by a segment that lists it elsewhere', [member('staff')], { key: 'gus' }, false],
    ['by a segment that is negated', [member('staff', true)], { key: 'bob' }, true],
    ['by a list, without a key', [member('staff')], {}, false],
    ['by a segment that others add to', [member('guests')], { key: 'bob' }, null],
    ['by a segment that others add to, with it', [member('guests')], { key: 'gus' }, true],
    ['by a segment that others fill', [member('elsewhere')], { key: 'ana' }, null],
    ['by a segment that is not active here', [member('idle')], { key: 'ana' }, null],
    ['by a segment that git does not have', [member('foreign')], { key: 'ana' }, null],
    ['by an open segment that is negated', [member('elsewhere', true)], { key: 'ana' }, null],
    ['by the segments that are told', [member('idle')], { segments: ['x', 'idle'] }, true],
    ['by other segments that are told', [member('idle')], { segments: ['idl'] }, false],
    ['by its list, beside those told', [member('staff')], { key: 'ana', segments: [] }, true],
    ['by its name', [NAMED], { key: 'ana' }, true],
    ['by another name', [NAMED], { key: 'bob' }, false],
    ['by a name, without a key', [NAMED], {}, false],
    ['by its start', [STARTS], { key: 'ana' }, true],
    ['by another start', [STARTS], { key: 'bob' }, false],
    ['by a start, without a key', [STARTS], {}, null],
    ['by an attribute', [SPAIN], { attributes: { country: 'ES' } }, true],
    ['by an attribute that is not told', [SPAIN], { key: 'ES' }, null],
    [
      'by an attribute that only looks like one',
      [{ type: 'CONTAINS_STRING', attribute: 'constructor', strings: ['a'], negate: true }],
      { attributes: {} },
      true,
    ],
    ['by an unknown type', [{ type: 'OF_TOMORROW', attribute: 'a' }], { attributes: {} }, false],
    ['by a flag that serves it one treatment', [served('base', 'on')], { key: 'tara' }, true],
    ['by a flag that serves it none of these', [served('base', 'x')], {}, false],
    ['by a flag that hashing decides', [served('base', 'on')], {}, null],
    ['by a flag that serves either of these', [served('base', 'on', 'off')], {}, true],
    ['by a flag that is unknown', [served('nobody', 'on')], {}, null],
    ['by a flag that is killed', [served('dead', 'off')], {}, true],
    ['by all of its conditions', [NAMED, STARTS], { key: 'ana' }, true],
    ['by one that is negative, beside an open one', [SPAIN, NAMED], { key: 'bob' }, false],
    ['by an open one beside one that is met', [NAMED, SPAIN], { key: 'ana' }, null],
  ])('%s', (_situation, matchers, situation, expected) => {
    const flags = {
      shop: onWhere(...matchers),
      base: { ...onShare(40), targets: { on: ['tara'] } },
      dead: { ...onShare(40) },
    };

    expect(answered(flags, situation, ['dead@production']).rules).toEqual([expected]);
  });

  it('is told for each rule, and for none while the flag is killed', () => {
    const shop = { rules: [rule(NAMED), rule(STARTS)] };

    expect(answered({ shop }, { key: 'abe' }).rules).toEqual([false, true]);
    expect(answered({ shop }, { key: 'abe', killed: true }).rules).toEqual([]);
  });
});

describe('an answer', () => {
  it('is none where the flag is not declared', () => {
    const flags = [desiredFlag('shop', { environments: { staging: {} } })];
    const asked = { flag: 'shop', environment: 'production' };

    expect(evaluate(aDesired({ flags }), asked, {})).toBeUndefined();
  });

  const half = (treatment: string) =>
    ['x', treatment].map((each) => ({ treatment: each, size: 50 }));
  const toSpain = { matchers: [SPAIN], buckets: half('on') };
  const THREE = {
    ...serving('on', 'off', 'x'),
    defaultRule: half('off'),
  };

  it.each<[string, Definition, boolean]>([
    ['certain where only hashing decides', onShare(30), true],
    ['uncertain where an attribute decides', onWhere(SPAIN), false],
    ['uncertain where an attribute decides a part', { ...THREE, rules: [toSpain] }, false],
    ['uncertain in a circle of flags', dependingOn('shop'), false],
  ])('is %s', (_situation, shop, expected) => {
    expect(answered({ shop }).isCertain).toBe(expected);
  });

  it.each<[string, Definition, Situation, string[], boolean]>([
    ['by its spec', { killed: true }, {}, [], true],
    ['by the break-glass list', {}, {}, ['shop@production'], true],
    ['not by the list of another environment', {}, {}, ['shop@staging'], false],
    ['not by the kill of another flag', {}, {}, ['base@production'], false],
    ['as the situation says', {}, { killed: true }, [], true],
    ['not where the situation says so', { killed: true }, { killed: false }, [], false],
  ])('is of a killed flag %s', (_situation, shop, situation, kills, expected) => {
    expect(answered({ shop, base: {} }, situation, kills).killed).toBe(expected);
  });

  it('takes the flag alone for killed, and none that it asks', () => {
    const flags = { shop: dependingOn('base'), base: { ...onShare(100), killed: true } };

    const { shares, killed } = answered(flags, { killed: false });

    expect(killed).toBe(false);
    expect([...shares.keys()]).toEqual(['off']);
  });

  it.each<[string, Situation, boolean]>([
    ['a target', { key: 'tara' }, true],
    ['no target', { key: 'bob' }, false],
    ['a target of another flag', { key: 'ana' }, false],
    ['a key that is not told', {}, false],
    ['a target of a flag that is killed', { key: 'tara', killed: true }, false],
  ])('tells of %s', (_situation, situation, expected) => {
    const flags = { shop: { targets: { on: ['tara'] } }, base: { targets: { on: ['ana'] } } };

    expect(answered(flags, situation).isTarget).toBe(expected);
  });

  it('names all flags that decide, and what is untold of each, once and sorted', () => {
    const flags = {
      shop: { rules: [rule(served('base', 'on'), member('idle')), rule(SPAIN), rule(STARTS)] },
      base: { rules: [rule(served('nobody', 'on'), SPAIN), rule(member('elsewhere'))] },
      other: { rules: [rule(member('guests'))] },
    };

    const { behind, untold } = answered(flags);

    expect([...behind]).toEqual(['shop', 'base', 'nobody']);
    expect(untold).toEqual([
      'attribute "country"',
      'flag "nobody"',
      'segment "elsewhere"',
      'segment "idle"',
      'what STARTS_WITH_STRING asks',
    ]);
    expect(answered(flags, { key: 'kim', attributes: {}, segments: [] }).untold).toEqual([
      'flag "nobody"',
    ]);
  });
});

describe('the shares of an answer', () => {
  function sharesIn(flags: Flags, situation: Situation = {}): Record<string, string> {
    return Object.fromEntries(
      [...answered(flags, situation).shares].map(([treatment, { least, most }]) => [
        treatment ?? 'control',
        `${least}–${most}`,
      ]),
    );
  }

  it('have two decimals', () => {
    const third = onShare(33);
    const flags = {
      shop: { rules: [{ matchers: [served('base', 'on')], buckets: third.defaultRule }] },
      base: { ...third, trafficAllocation: 33 },
    };

    // 33 % of 33 % of 33 %: 3.5937 %.
    expect(sharesIn(flags)).toEqual({ on: '3.59–3.59', off: '96.41–96.41' });
  });

  it('have bounds where an unknown segment decides, and none of it matters to a key that a list has', () => {
    const shop = { ...onShare(10), rules: [rule(member('guests')), rule(member('elsewhere'))] };

    expect(sharesIn({ shop }, { key: 'kim' })).toEqual({ on: '10–100', off: '0–90' });
    expect(sharesIn({ shop }, { key: 'gus' })).toEqual({ on: '100–100' });
  });

  it.each<[string, Situation, string]>([
    ['at a place, for rules', { key: 'ana', at: 20 }, 'on'],
    ['at the next place, for rules', { key: 'ana', at: 21 }, 'off'],
    ['at a place, for the default rule', { key: 'bob', at: 10 }, 'on'],
    ['at the next place, for the default rule', { key: 'bob', at: 11 }, 'off'],
    ['at the last place', { key: 'bob', at: 100 }, 'off'],
  ])('are whole %s', (_situation, situation, expected) => {
    const shop = {
      ...onShare(10),
      rules: [
        { ...inSegment('staff').rules[0], matchers: [NAMED], buckets: onShare(20).defaultRule },
      ],
    };

    expect(sharesIn({ shop }, situation)).toEqual({ [expected]: '100–100' });
  });

  it('leave the place of the flag that is asked open', () => {
    const flags = { shop: { ...onShare(10), ...dependingOn('base') }, base: onShare(40) };

    expect(sharesIn(flags, { at: 50 })).toEqual({ on: '40–40', off: '60–60' });
  });

  it('keep the allocation at a place', () => {
    const shop = { ...onShare(10), trafficAllocation: 30 };

    expect(sharesIn({ shop }, { at: 10 })).toEqual({ on: '30–30', off: '70–70' });
  });

  it('are whole where the seeds of the flag that is asked place the key', () => {
    const bucket = bucketOf('ana', 7);
    const seeds = new Map([['base', { seed: 7, allocationSeed: 8 }]]);
    const at = (on: number, key?: string) =>
      sharesIn(
        { shop: dependingOn('base'), base: onShare(on) },
        { seeds, ...(key !== undefined && { key }) },
      );

    expect(at(bucket, 'ana')).toEqual({ on: '100–100' });
    expect(at(bucket - 1, 'ana')).toEqual({ off: '100–100' });
    expect(at(40)).toEqual({ on: '40–40', off: '60–60' });
  });
});
