import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/kinds/condition-of.js';
import type { Matcher } from '../../../src/kinds/flag.js';

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
    { type: 'BETWEEN_NUMBER', attribute: 'seats', between: { from: 1, to: 5 } },
    { attribute: 'seats', between: [1, 5] },
  ],
  [
    { type: 'ON_OR_AFTER_DATE', attribute: 'joined', date: DAY },
    { attribute: 'joined', onOrAfter: '2026-10-03' },
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
  ['an empty list', { type: 'IN_LIST_STRING', attribute: 'a', strings: [] }],
  [
    'a dependency on no treatment',
    { type: 'IN_SPLIT', depends: { splitName: 'a', treatments: [] } },
  ],
];

describe('the condition of a matcher', () => {
  it.each(WORDED)('says %j as %j', (matcher, condition) => {
    expect(conditionOf(matcher as Matcher)).toEqual(condition);
  });

  it.each(RAW)('passes %s through', (_, matcher) => {
    expect(conditionOf(matcher as Matcher)).toEqual({ matcher });
  });

  it('keeps the negation of a matcher that it passes through', () => {
    const matcher = { type: 'SOMETHING_NEW', string: 'x', negate: true };

    expect(conditionOf(matcher as Matcher)).toEqual({ matcher });
  });
});
