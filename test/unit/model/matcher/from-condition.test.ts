import { describe, expect, it } from 'vitest';
import type { ConditionSpec } from '../../../../src/generated/flag.schema.d.js';
import { matcherOf } from '../../../../src/model/matcher/from-condition.js';

const DAY = Date.UTC(2026, 9, 3);

const CONDITIONS: readonly (readonly [ConditionSpec, object])[] = [
  [{ segment: 'staff' }, { type: 'IN_SEGMENT', string: 'staff' }],
  [
    { flag: 'cart', treatments: ['on', 'beta', 'on'] },
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['beta', 'on'] } },
  ],
  [{ in: ['b', 'a', 'b'] }, { type: 'IN_LIST_STRING', strings: ['a', 'b'] }],
  [
    { attribute: 'mail', startsWith: 'qa' },
    { type: 'STARTS_WITH_STRING', attribute: 'mail', strings: ['qa'] },
  ],
  [
    { attribute: 'mail', endsWith: ['.example'] },
    { type: 'ENDS_WITH_STRING', attribute: 'mail', strings: ['.example'] },
  ],
  [{ contains: 'bot' }, { type: 'CONTAINS_STRING', strings: ['bot'] }],
  [
    { attribute: 'mail', matches: '^qa' },
    { type: 'MATCHES_STRING', attribute: 'mail', string: '^qa' },
  ],
  [
    { attribute: 'beta', is: false },
    { type: 'BOOLEAN', attribute: 'beta', bool: false },
  ],
  [
    { attribute: 'seats', equals: 0 },
    { type: 'EQUAL_NUMBER', attribute: 'seats', number: 0 },
  ],
  [
    { attribute: 'seats', atLeast: 5 },
    { type: 'GREATER_THAN_OR_EQUAL_NUMBER', attribute: 'seats', number: 5 },
  ],
  [
    { attribute: 'seats', atMost: 5 },
    { type: 'LESS_THAN_OR_EQUAL_NUMBER', attribute: 'seats', number: 5 },
  ],
  [
    { attribute: 'seats', between: [1, 5] },
    { type: 'BETWEEN_NUMBER', attribute: 'seats', between: { from: 1, to: 5 } },
  ],
  [
    { attribute: 'score', between: [0.5, 0.5] },
    { type: 'BETWEEN_NUMBER', attribute: 'score', between: { from: 0.5, to: 0.5 } },
  ],
  [
    { attribute: 'since', on: '2026-10-03' },
    { type: 'ON_DATE', attribute: 'since', date: DAY },
  ],
  [
    { attribute: 'since', onOrAfter: '2026-10-03T02:00:00+02:00' },
    { type: 'ON_OR_AFTER_DATE', attribute: 'since', date: DAY },
  ],
  [
    { attribute: 'since', onOrBefore: DAY },
    { type: 'ON_OR_BEFORE_DATE', attribute: 'since', date: DAY },
  ],
  [
    { attribute: 'since', betweenDates: { from: '2026-10-03', to: DAY + 1 } },
    { type: 'BETWEEN_DATE', attribute: 'since', between: { from: DAY, to: DAY + 1 } },
  ],
  [
    { attribute: 'plans', setEquals: ['b', 'a'] },
    { type: 'EQUAL_SET', attribute: 'plans', strings: ['a', 'b'] },
  ],
  [
    { attribute: 'plans', setAnyOf: ['a'] },
    { type: 'ANY_OF_SET', attribute: 'plans', strings: ['a'] },
  ],
  [
    { attribute: 'plans', setAllOf: ['a'] },
    { type: 'ALL_OF_SET', attribute: 'plans', strings: ['a'] },
  ],
  [
    { attribute: 'plans', setPartOf: ['a'] },
    { type: 'PART_OF_SET', attribute: 'plans', strings: ['a'] },
  ],
  [
    { matcher: { type: 'IN_LIST_SEMVER', strings: ['2', '1'], attribute: null, negate: false } },
    { type: 'IN_LIST_SEMVER', strings: ['1', '2'] },
  ],
  [
    { matcher: { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on', 'beta'] } } },
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['beta', 'on'] } },
  ],
];

describe('matcherOf', () => {
  it.each(CONDITIONS)('turns %j into the matcher of the service', (condition, matcher) => {
    expect(matcherOf(condition)).toStrictEqual({ ok: true, value: matcher });
  });

  it.each(CONDITIONS)('negates %j with not: true, and only then', (condition, matcher) => {
    expect(matcherOf({ ...condition, not: true })).toEqual({
      ok: true,
      value: { ...matcher, negate: true },
    });
    expect(matcherOf({ ...condition, not: false })).toEqual({ ok: true, value: matcher });
  });

  it('passes a raw matcher through with all that it says, its negation included', () => {
    const matcher = { type: 'SOMETHING_NEW', bool: false, negate: true, near: { km: 3 } };

    expect(matcherOf({ matcher })).toStrictEqual({ ok: true, value: matcher });
  });

  it.each<[ConditionSpec, string, string]>([
    [
      { not: true },
      '',
      'the condition compares nothing: it needs segment, flag, matcher, or a comparison such as in',
    ],
    [
      { segment: 'a', flag: 'b', treatments: ['on'] },
      'flag',
      'a condition makes one comparison, and this one has "segment" already (a list of conditions means AND)',
    ],
    [{ flag: 'b' }, 'flag', '"flag" needs "treatments": those of the other flag that match'],
    [{ segment: 'a', treatments: ['on'] }, 'treatments', '"treatments" stands beside "flag" only'],
    [{ segment: 'a', attribute: 'mail' }, 'attribute', '"attribute" does not go with "segment"'],
    [{ atLeast: 3 }, 'atLeast', '"atLeast" needs "attribute": what is compared'],
  ])('refuses %j at the key "%s"', (condition, path, message) => {
    expect(faultOf(condition)).toEqual({ code: 'condition-shape', at: 'key', path, message });
  });

  it.each<[ConditionSpec, string, string]>([
    [{ attribute: 'a', on: '3 October' }, 'on', '3 October'],
    [{ attribute: 'a', on: '2026-02-30' }, 'on', '2026-02-30'],
    [{ attribute: 'a', on: '2026-10-03T22:14:00' }, 'on', '2026-10-03T22:14:00'],
    [{ attribute: 'a', betweenDates: ['2026-10-03', 'x'] }, 'betweenDates/1', 'x'],
    [{ attribute: 'a', betweenDates: { from: 'x', to: 5 } }, 'betweenDates/from', 'x'],
  ])('refuses %j, whose value at "%s" is no date', (condition, path, written) => {
    const message = `"${written}" is no date: a day (2026-10-03), a moment with its zone (2026-10-03T22:14:00Z), or milliseconds`;

    expect(faultOf(condition)).toEqual({ code: 'invalid-date', at: 'value', path, message });
  });

  it('refuses a range that is reversed', () => {
    expect(faultOf({ attribute: 'a', between: { from: 2, to: 1 } })).toEqual({
      code: 'range-reversed',
      at: 'value',
      path: 'between',
      message: '"between" starts after it ends',
    });
  });
});

/** The one fault of a condition. */
function faultOf(condition: ConditionSpec): object | undefined {
  const checked = matcherOf(condition);
  const [fault, second] = checked.ok ? [] : checked.faults;
  return fault && !second ? { ...fault, path: fault.path.join('/') } : undefined;
}
