import { describe, expect, it } from 'vitest';
import type { ConditionSpec } from '../../../../src/generated/flag.schema.d.js';
import type { Matcher } from '../../../../src/model/flag/flag.js';
import { conditionOf, matcherOf } from '../../../../src/model/matcher/condition.js';

const DAY = Date.UTC(2026, 9, 3);

/** A condition, its matcher, and the condition that is written for the matcher. Default: the same. */
const CONDITIONS: readonly (readonly [ConditionSpec, object, ConditionSpec?])[] = [
  [{ segment: 'staff' }, { type: 'IN_SEGMENT', string: 'staff' }],
  [
    { flag: 'cart', treatments: ['on', 'beta', 'on'] },
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['beta', 'on'] } },
    { flag: 'cart', treatments: ['beta', 'on'] },
  ],
  [{ in: ['b', 'a', 'b'] }, { type: 'IN_LIST_STRING', strings: ['a', 'b'] }, { in: ['a', 'b'] }],
  [{ contains: 'bot' }, { type: 'CONTAINS_STRING', strings: ['bot'] }, { contains: ['bot'] }],
  [
    { matcher: { type: 'IN_LIST_SEMVER', strings: ['2', '1'], attribute: null, negate: false } },
    { type: 'IN_LIST_SEMVER', strings: ['1', '2'] },
    { matcher: { type: 'IN_LIST_SEMVER', strings: ['1', '2'] } },
  ],
  [
    { matcher: { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on', 'beta'] } } },
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['beta', 'on'] } },
    { flag: 'cart', treatments: ['beta', 'on'] },
  ],
  ...compared(
    'STARTS_WITH_STRING',
    { strings: ['qa'] },
    { startsWith: 'qa' },
    { startsWith: ['qa'] },
  ),
  ...compared('ENDS_WITH_STRING', { strings: ['.example'] }, { endsWith: ['.example'] }),
  ...compared('MATCHES_STRING', { string: '^qa' }, { matches: '^qa' }),
  ...compared('BOOLEAN', { bool: false }, { is: false }),
  ...compared('EQUAL_NUMBER', { number: 0 }, { equals: 0 }),
  ...compared('GREATER_THAN_OR_EQUAL_NUMBER', { number: 5 }, { atLeast: 5 }),
  ...compared('LESS_THAN_OR_EQUAL_NUMBER', { number: 5 }, { atMost: 5 }),
  ...compared('BETWEEN_NUMBER', { between: { from: 1, to: 5 } }, { between: [1, 5] }),
  ...compared('BETWEEN_NUMBER', { between: { from: 0.5, to: 0.5 } }, { between: [0.5, 0.5] }),
  ...compared('ON_DATE', { date: DAY }, { on: '2026-10-03' }),
  ...compared('ON_DATE', { date: DAY + 80_040_000 }, { on: '2026-10-03T22:14:00Z' }),
  ...compared('ON_DATE', { date: 8.64e15 }, { on: 8.64e15 }),
  ...compared(
    'ON_OR_AFTER_DATE',
    { date: DAY },
    { onOrAfter: '2026-10-03T02:00:00+02:00' },
    { onOrAfter: '2026-10-03' },
  ),
  ...compared(
    'ON_OR_BEFORE_DATE',
    { date: DAY },
    { onOrBefore: DAY },
    { onOrBefore: '2026-10-03' },
  ),
  ...compared(
    'BETWEEN_DATE',
    { between: { from: DAY, to: DAY + 1_500 } },
    { betweenDates: { from: '2026-10-03', to: DAY + 1_500 } },
    { betweenDates: ['2026-10-03', '2026-10-03T00:00:01.500Z'] },
  ),
  ...compared(
    'EQUAL_SET',
    { strings: ['a', 'b'] },
    { setEquals: ['b', 'a'] },
    { setEquals: ['a', 'b'] },
  ),
  ...compared('ANY_OF_SET', { strings: ['a'] }, { setAnyOf: ['a'] }),
  ...compared('ALL_OF_SET', { strings: ['a'] }, { setAllOf: ['a'] }),
  ...compared('PART_OF_SET', { strings: ['a'] }, { setPartOf: ['a'] }),
];

/** A comparison with an attribute. */
function compared(
  type: string,
  operand: object,
  condition: ConditionSpec,
  written: ConditionSpec = condition,
): [ConditionSpec, object, ConditionSpec][] {
  const attribute = 'mail';
  return [
    [
      { attribute, ...condition },
      { type, attribute, ...operand },
      { attribute, ...written },
    ],
  ];
}

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

describe('a condition', () => {
  it.each(
    CONDITIONS.map(([condition, matcher, written = condition]) => {
      return { condition, matcher: matcher as Matcher, written };
    }),
  )('$condition is a matcher, and is written for it again', ({ condition, matcher, written }) => {
    expect(matcherOf(condition)).toStrictEqual({ ok: true, value: matcher });
    expect(matcherOf({ ...condition, not: false })).toEqual({ ok: true, value: matcher });
    expect(conditionOf(matcher)).toStrictEqual(written);

    const negated: Matcher = { ...matcher, negate: true };
    expect(matcherOf({ ...condition, not: true })).toEqual({ ok: true, value: negated });
    expect(conditionOf(negated)).toEqual(
      written.matcher ? { matcher: negated } : { ...written, not: true },
    );
  });

  it('passes a raw matcher through with all that it says, its negation included, in one order', () => {
    const matcher = { near: { km: 3 }, type: 'SOMETHING_NEW', bool: false, negate: true };

    expect(matcherOf({ matcher })).toStrictEqual({ ok: true, value: matcher });
    expect(JSON.stringify(conditionOf(matcher as Matcher))).toBe(
      '{"matcher":{"type":"SOMETHING_NEW","bool":false,"near":{"km":3},"negate":true}}',
    );
  });

  it.each(RAW)('passes %s through', (_, matcher) => {
    expect(conditionOf(matcher as Matcher)).toEqual({ matcher });
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
