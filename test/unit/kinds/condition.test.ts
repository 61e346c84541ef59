import { describe, expect, it } from 'vitest';
import type { ConditionSpec } from '../../../src/generated/flag.schema.d.ts';
import { matcherOf } from '../../../src/kinds/condition.js';

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
];

describe('matcherOf', () => {
  it.each(CONDITIONS)('turns %j into the matcher of the service', (condition, matcher) => {
    expect(matcherOf(condition)).toEqual({ ok: true, value: matcher });
  });

  it.each(CONDITIONS)('negates %j with not: true, and only then', (condition, matcher) => {
    expect(matcherOf({ ...condition, not: true })).toEqual({
      ok: true,
      value: { ...matcher, negate: true },
    });
    expect(matcherOf({ ...condition, not: false })).toEqual({ ok: true, value: matcher });
  });

  it.each<[ConditionSpec, string, string]>([
    [{ not: true }, 'condition-shape', ''],
    [{ segment: 'a', flag: 'b', treatments: ['on'] }, 'condition-shape', 'flag'],
    [{ flag: 'b' }, 'condition-shape', 'flag'],
    [{ segment: 'a', treatments: ['on'] }, 'condition-shape', 'treatments'],
    [{ segment: 'a', attribute: 'mail' }, 'condition-shape', 'attribute'],
    [{ atLeast: 3 }, 'condition-shape', 'atLeast'],
    [{ attribute: 'a', on: '3 October' }, 'invalid-date', 'on'],
    [{ attribute: 'a', on: '2026-02-30' }, 'invalid-date', 'on'],
    [{ attribute: 'a', on: '2026-10-03T22:14:00' }, 'invalid-date', 'on'],
    [{ attribute: 'a', betweenDates: ['2026-10-03', 'x'] }, 'invalid-date', 'betweenDates/1'],
    [{ attribute: 'a', between: { from: 2, to: 1 } }, 'range-reversed', 'between'],
  ])('refuses %j as %s at "%s"', (condition, code, path) => {
    const checked = matcherOf(condition);

    const faults = checked.ok ? [] : checked.faults;
    expect(faults.map((each) => [each.code, each.path.join('/')])).toEqual([[code, path]]);
  });
});
