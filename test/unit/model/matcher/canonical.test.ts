import { describe, expect, it } from 'vitest';
import type { Matcher } from '../../../../src/model/flag/flag.js';
import {
  canonicalMatcher,
  dependencyOf,
  segmentOf,
} from '../../../../src/model/matcher/canonical.js';

const canonical = (raw: object) => canonicalMatcher(raw as Matcher);

describe('the canonical form of a matcher', () => {
  const NEW = 'SOMETHING_NEW';
  const IN_STAFF = { string: 'staff' };
  const nothing = { between: { from: null, to: null }, depends: { splitName: '', treatments: [] } };

  it.each<[string, type: string, members: object, canonical?: object]>([
    [
      'drops what an answer spells out though it is absent',
      'IN_SEGMENT',
      { ...IN_STAFF, attribute: null, strings: undefined, negate: false },
      IN_STAFF,
    ],
    ['keeps a negation, and what is false', 'BOOLEAN', { bool: false, negate: true }],
    [
      'sorts a set of texts',
      'IN_LIST_STRING',
      { strings: ['b', 'a', 'b'] },
      { strings: ['a', 'b'] },
    ],
    ['keeps the order of a list that may be no set', NEW, { path: ['b', 'a'] }],
    ['leaves a list alone that does not hold texts only', NEW, { strings: [1, 'b', 'b'] }],
    ['takes a number as a text', 'EQUAL_NUMBER', { number: '5' }, { number: 5 }],
    [
      'knows one zero, as JSON does',
      'BETWEEN_NUMBER',
      { between: { from: -0, to: '-0' } },
      { between: { from: 0, to: 0 } },
    ],
    ['takes a date as a text', 'ON_DATE', { date: '1759449600000' }, { date: 1_759_449_600_000 }],
    ['leaves alone what is no number', NEW, { number: 'many', date: ' ', from: true }],
    [
      'takes the ends of a range in either spelling, and drops what is absent beside them',
      'BETWEEN_NUMBER',
      { between: { from: '1', to: '5', step: null } },
      { between: { from: 1, to: 5 } },
    ],
    ['leaves alone what is no range', NEW, { between: '1', near: { from: '1', to: null } }],
    ['reads a list of ranges as nothing it knows', NEW, { between: ['1', '2'] }],
    ['drops an attribute without a name, of whatever type', NEW, { attribute: '' }, {}],
    [
      'drops empty operands that the type does not use',
      'IN_LIST_STRING',
      { attribute: '', string: '', strings: ['a'] },
      { strings: ['a'] },
    ],
    ['keeps its own empty text', 'MATCHES_STRING', { string: '', strings: [] }, { string: '' }],
    ['keeps an unused operand that holds something', 'IN_SEGMENT', { strings: ['a'], number: 0 }],
    ['drops unused operands of nothing', 'IN_SEGMENT', { ...IN_STAFF, ...nothing }, IN_STAFF],
    [
      'keeps an unused range that holds something',
      'IN_SEGMENT',
      { between: { from: 0, to: null } },
      { between: { from: 0 } },
    ],
    ['takes numbers for texts', 'IN_LIST_STRING', { strings: [10, '9'] }, { strings: ['10', '9'] }],
    ['keeps empty members that are no operands', 'IN_SEGMENT', { weight: '' }],
    ['keeps empty operands of a type that is not known', NEW, { string: '', strings: [] }],
    ['takes no list for an empty one', 'ANY_OF_SET', { strings: null }, { strings: [] }],
  ])('%s', (_, type, members, expected = members) => {
    const read = canonical({ type, ...members });

    expect(read).toStrictEqual({ type, ...expected });
    expect(canonical(read)).toStrictEqual(read);
  });

  it.each([
    ['several treatments', { splitName: 'a', treatments: ['on', 'beta'] }, ['beta', 'on']],
    ['one treatment', { splitName: 'a', treatment: 'on', treatments: null }, ['on']],
    ['no treatment', { splitName: 'a' }, []],
    ['a treatment that is no text', { splitName: 'a', treatment: 5 }, []],
  ])('reads a dependency on %s', (_, depends, treatments) => {
    expect(canonical({ type: 'IN_SPLIT', depends })).toStrictEqual({
      type: 'IN_SPLIT',
      depends: { splitName: 'a', treatments },
    });
  });

  it.each(['a', ['a']])('leaves a dependency alone that is no object: %j', (depends) => {
    expect(canonical({ type: 'IN_SPLIT', depends })).toStrictEqual({ type: 'IN_SPLIT', depends });
  });
});

it.each([
  [{ type: 'IN_SEGMENT', string: 'staff' }, 'staff'],
  [{ type: 'MATCHES_STRING', string: 'staff' }, undefined],
  [{ type: 'IN_SEGMENT', string: 5 }, undefined],
])('the segment that %j asks about is %s', (matcher, segment) => {
  expect(segmentOf(matcher)).toBe(segment);
});

const DEPENDS = { splitName: 'cart', treatments: ['on'] };

it.each<[object, ReturnType<typeof dependencyOf>]>([
  [
    { type: 'IN_SPLIT', depends: DEPENDS },
    { flag: 'cart', treatments: ['on'] },
  ],
  [
    { type: 'IN_SPLIT', depends: { splitName: 'cart' } },
    { flag: 'cart', treatments: [] },
  ],
  [{ type: 'SOMETHING_NEW', depends: DEPENDS }, undefined],
  [{ type: 'IN_SPLIT' }, undefined],
  [{ type: 'IN_SPLIT', depends: null }, undefined],
  [{ type: 'IN_SPLIT', depends: 'cart' }, undefined],
  [{ type: 'IN_SPLIT', depends: { treatments: ['on'] } }, undefined],
])('the flag that %j asks about is %j', (matcher, dependency) => {
  expect(dependencyOf(matcher as Matcher)).toEqual(dependency);
});
