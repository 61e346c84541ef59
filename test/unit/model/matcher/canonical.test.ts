import { describe, expect, it } from 'vitest';
import type { Matcher } from '../../../../src/model/flag/flag.js';
import {
  canonicalMatcher,
  dependencyOf,
  segmentOf,
} from '../../../../src/model/matcher/canonical.js';

const canonical = (raw: object) => canonicalMatcher(raw as Matcher);

describe('the canonical form of a matcher', () => {
  it.each<[string, object, object?]>([
    [
      'drops what an answer spells out though it is absent',
      { type: 'IN_SEGMENT', string: 'staff', attribute: null, strings: undefined, negate: false },
      { type: 'IN_SEGMENT', string: 'staff' },
    ],
    [
      'keeps a negation, and other members that are false',
      { type: 'BOOLEAN', attribute: 'beta', bool: false, negate: true },
    ],
    [
      'sorts the texts of a set, each of them once',
      { type: 'IN_LIST_STRING', strings: ['b', 'a', 'b'] },
      { type: 'IN_LIST_STRING', strings: ['a', 'b'] },
    ],
    ['keeps the order of a list of an unknown type', { type: 'SOMETHING_NEW', path: ['b', 'a'] }],
    ['leaves a list alone of not only texts', { type: 'SOMETHING_NEW', strings: [1, 'b', 'b'] }],
    [
      'takes a number in either spelling',
      { type: 'EQUAL_NUMBER', attribute: 'seats', number: '5' },
      { type: 'EQUAL_NUMBER', attribute: 'seats', number: 5 },
    ],
    [
      'knows one zero, as JSON does',
      { type: 'BETWEEN_NUMBER', attribute: 'seats', between: { from: -0, to: '-0' } },
      { type: 'BETWEEN_NUMBER', attribute: 'seats', between: { from: 0, to: 0 } },
    ],
    [
      'takes a date in either spelling',
      { type: 'ON_DATE', attribute: 'since', date: '1759449600000' },
      { type: 'ON_DATE', attribute: 'since', date: 1_759_449_600_000 },
    ],
    [
      'leaves alone what is no number, where one is expected',
      { type: 'SOMETHING_NEW', number: 'many', date: ' ', from: true },
    ],
    [
      'takes the ends of a range in either spelling, and drops what is absent beside them',
      { type: 'BETWEEN_NUMBER', between: { from: '1', to: '5', step: null } },
      { type: 'BETWEEN_NUMBER', between: { from: 1, to: 5 } },
    ],
    [
      'leaves a range alone that is no object, and an object that is no range',
      { type: 'SOMETHING_NEW', between: '1', near: { from: '1', to: null } },
    ],
    ['reads a list of ranges as nothing it knows', { type: 'SOMETHING_NEW', between: ['1', '2'] }],
    [
      'drops an attribute without a name, of whatever type',
      { type: 'SOMETHING_NEW', attribute: '' },
      { type: 'SOMETHING_NEW' },
    ],
    [
      'drops empty operands that the type does not use',
      { type: 'IN_LIST_STRING', attribute: '', string: '', strings: ['a'] },
      { type: 'IN_LIST_STRING', strings: ['a'] },
    ],
    [
      'drops an empty list beside a text, and keeps the text though it is empty',
      { type: 'MATCHES_STRING', string: '', strings: [] },
      { type: 'MATCHES_STRING', string: '' },
    ],
    [
      'keeps what is not empty though the type does not use it',
      { type: 'IN_SEGMENT', string: 'staff', strings: ['a'], number: 0 },
    ],
    [
      'drops ranges and dependencies that hold nothing and that the type does not use',
      {
        type: 'IN_SEGMENT',
        string: 'staff',
        between: { from: null, to: null },
        depends: { splitName: '', treatments: [] },
      },
      { type: 'IN_SEGMENT', string: 'staff' },
    ],
    [
      'keeps a range that holds something though the type does not use it',
      { type: 'IN_SEGMENT', string: 'staff', between: { from: 0, to: null } },
      { type: 'IN_SEGMENT', string: 'staff', between: { from: 0 } },
    ],
    [
      'takes numbers for texts where the type compares with texts',
      { type: 'IN_LIST_STRING', attribute: 'plan', strings: [10, '9', 10] },
      { type: 'IN_LIST_STRING', attribute: 'plan', strings: ['10', '9'] },
    ],
    ['keeps empty members beside operands', { type: 'IN_SEGMENT', string: 'staff', weight: '' }],
    ['keeps empty operands of an unknown type', { type: 'SOMETHING_NEW', string: '', strings: [] }],
    [
      'takes a list that is missing for an empty one',
      { type: 'ANY_OF_SET', attribute: 'plan', strings: null },
      { type: 'ANY_OF_SET', attribute: 'plan', strings: [] },
    ],
  ])('%s', (_, raw, expected = raw) => {
    expect(canonical(raw)).toStrictEqual(expected);
    expect(canonical(canonical(raw))).toStrictEqual(expected);
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
