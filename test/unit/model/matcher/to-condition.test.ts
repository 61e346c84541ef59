import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../../src/model/matcher/to-condition.js';
import type { Matcher } from '../../../../src/model/flag/flag.js';

const DAY = Date.UTC(2026, 9, 3);

const WORDED: readonly (readonly [object, object])[] = [
  [{ type: 'IN_SEGMENT', string: 'staff' }, { segment: 'staff' }],
  [
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on'] }, negate: true },
    { flag: 'cart', treatments: ['on'], not: true },
  ],
  [
    { type: 'IN_LIST_STRING', attribute: 'country', strings: ['DE', 'ES'] },
    { attribute: 'country', in: ['DE', 'ES'] },
  ],
  [{ type: 'STARTS_WITH_STRING', strings: ['qa'] }, { startsWith: ['qa'] }],
  [
    { type: 'BOOLEAN', attribute: 'beta', bool: false },
    { attribute: 'beta', is: false },
  ],
  [
    { type: 'MATCHES_STRING', attribute: 'mail', string: '^qa' },
    { attribute: 'mail', matches: '^qa' },
  ],
  [
    { type: 'EQUAL_NUMBER', attribute: 'seats', number: 0 },
    { attribute: 'seats', equals: 0 },
  ],
  [
    { type: 'BETWEEN_NUMBER', attribute: 'seats', between: { from: 1, to: 5 } },
    { attribute: 'seats', between: [1, 5] },
  ],
  [
    { type: 'ON_OR_AFTER_DATE', attribute: 'joined', date: DAY },
    { attribute: 'joined', onOrAfter: '2026-10-03' },
  ],
  [
    { type: 'ON_DATE', attribute: 'joined', date: DAY + 80_040_000 },
    { attribute: 'joined', on: '2026-10-03T22:14:00Z' },
  ],
  [
    { type: 'BETWEEN_DATE', attribute: 'joined', between: { from: DAY, to: DAY + 1500 } },
    { attribute: 'joined', betweenDates: ['2026-10-03', '2026-10-03T00:00:01.500Z'] },
  ],
  [
    { type: 'ON_DATE', attribute: 'joined', date: 8.64e15 },
    { attribute: 'joined', on: 8.64e15 },
  ],
];

const RAW: readonly (readonly [string, object])[] = [
  ['a type that has no word', { type: 'EQUAL_TO_SEMVER', attribute: 'version', string: '1.10.0' }],
  ['a member that has no word', { type: 'IN_SEGMENT', string: 'staff', weight: 3 }],
  [
    'a range that is reversed',
    { type: 'BETWEEN_NUMBER', attribute: 'a', between: { from: 5, to: 1 } },
  ],
  ['a comparison without its attribute', { type: 'EQUAL_NUMBER', number: 3 }],
  ['an attribute without a name', { type: 'EQUAL_NUMBER', attribute: '', number: 3 }],
  ['an attribute that is no text', { type: 'IN_LIST_STRING', attribute: 5, strings: ['a'] }],
  ['a segment without a name', { type: 'IN_SEGMENT', string: '' }],
  ['a pattern that is empty', { type: 'MATCHES_STRING', attribute: 'a', string: '' }],
  ['a pattern that is no text', { type: 'MATCHES_STRING', attribute: 'a', string: 5 }],
  ['a yes or no that is neither', { type: 'BOOLEAN', attribute: 'a', bool: 'yes' }],
  ['a number that is none', { type: 'EQUAL_NUMBER', attribute: 'a', number: 'many' }],
  ['a date that is none', { type: 'ON_DATE', attribute: 'a', date: 'soon' }],
  ['a moment between two milliseconds', { type: 'ON_DATE', attribute: 'a', date: 1.5 }],
  [
    'a range that starts at no number',
    { type: 'BETWEEN_NUMBER', attribute: 'a', between: { from: 'few', to: 5 } },
  ],
  [
    'a range that ends at no number',
    { type: 'BETWEEN_NUMBER', attribute: 'a', between: { from: 1, to: 'many' } },
  ],
  ['a range without ends', { type: 'BETWEEN_NUMBER', attribute: 'a' }],
  ['texts that are no list', { type: 'IN_LIST_STRING', attribute: 'a', strings: 'DE' }],
  ['an empty list', { type: 'IN_LIST_STRING', attribute: 'a', strings: [] }],
  [
    'a dependency on no treatment',
    { type: 'IN_SPLIT', depends: { splitName: 'a', treatments: [] } },
  ],
  [
    'a dependency on a treatment without a name',
    { type: 'IN_SPLIT', depends: { splitName: 'a', treatments: [''] } },
  ],
  [
    'a dependency on a flag without a name',
    { type: 'IN_SPLIT', depends: { splitName: '', treatments: ['on'] } },
  ],
];

describe('the condition of a matcher', () => {
  it.each(WORDED)('says %j as %j', (matcher, condition) => {
    expect(conditionOf(matcher as Matcher)).toStrictEqual(condition);
  });

  it.each(RAW)('passes %s through', (_, matcher) => {
    expect(conditionOf(matcher as Matcher)).toEqual({ matcher });
  });

  it('writes what it passes through in one order, whatever order the answer had', () => {
    const matcher = { zone: 'b', type: 'SOMETHING_NEW', area: 'a' };

    expect(JSON.stringify(conditionOf(matcher as Matcher))).toBe(
      '{"matcher":{"type":"SOMETHING_NEW","area":"a","zone":"b"}}',
    );
  });

  it('keeps the negation of a matcher that it passes through', () => {
    const matcher = { type: 'SOMETHING_NEW', string: 'x', negate: true };

    expect(conditionOf(matcher as Matcher)).toEqual({ matcher });
  });
});
