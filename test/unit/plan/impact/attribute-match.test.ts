import { describe, expect, it } from 'vitest';
import type { Matcher } from '../../../../src/model/flag/flag.js';
import { dateMs } from '../../../../src/model/matcher/condition.js';
import { asCompared, isKnownType, meets } from '../../../../src/plan/impact/attribute-match.js';

const AT_TEN = dateMs('2026-10-03T10:00:00Z') ?? 0;

const UNTIL_TEN: Matcher = { type: 'BETWEEN_DATE', between: { from: 0, to: AT_TEN } };
const VERSION_1: Matcher = { type: 'BETWEEN_SEMVER', between: { from: '1.0.0', to: '2.0.0' } };

function semver(type: string, string: string): Matcher {
  return { type: `${type}_SEMVER`, string };
}

function set(type: string, ...strings: string[]): Matcher {
  return { type: `${type}_SET`, strings };
}

it.each<[string, Matcher, unknown, boolean | undefined]>([
  ['that is no text, for a list of texts', { type: 'IN_LIST_STRING', strings: [''] }, {}, false],
  ['that is a number, in a list of texts', { type: 'IN_LIST_STRING', strings: ['1'] }, 1, true],
  ['that is no text, for any expression', { type: 'MATCHES_STRING', string: '.' }, {}, false],
  ['for a type that nobody knows', { type: 'OF_TOMORROW' }, 'x', undefined],
  ['that is null', { type: 'IN_LIST_STRING', strings: ['null'] }, null, false],
  ['of several texts', { type: 'IN_LIST_STRING', strings: ['a,b'] }, ['a', 'b'], true],
  ['of texts and others', { type: 'IN_LIST_STRING', strings: ['a,'] }, ['a', 1], true],
  ['that is a boolean', { type: 'IN_LIST_STRING', strings: ['true'] }, true, true],
  ['that is empty, for any start', { type: 'STARTS_WITH_STRING', strings: [''] }, '', false],
  ['for a list that is a text', { type: 'IN_LIST_STRING', strings: 'x' }, 'x', false],
  ['for a list of numbers', { type: 'CONTAINS_STRING', strings: [1] }, 'a1', false],
  ['for one of two starts', { type: 'STARTS_WITH_STRING', strings: ['x', 'a'] }, 'ab', true],
  ['for one of two ends', { type: 'ENDS_WITH_STRING', strings: ['x', 'b'] }, 'ab', true],
  ['for one of two parts', { type: 'CONTAINS_STRING', strings: ['x', 'b'] }, 'abc', true],
  ['that is true in capitals', { type: 'BOOLEAN', bool: true }, 'TRUE', true],
  ['that is false, for true', { type: 'BOOLEAN', bool: true }, false, false],
  ['that is empty, for any expression', { type: 'MATCHES_STRING', string: '.*' }, '', false],
  ['for an expression that is missing', { type: 'MATCHES_STRING' }, 'undefined', undefined],

  ['in a list', { type: 'IN_LIST_STRING', strings: ['x', 'y'] }, 'y', true],
  ['in a list, in capitals', { type: 'IN_LIST_STRING', strings: ['x'] }, 'X', false],
  ['that only holds a start', { type: 'STARTS_WITH_STRING', strings: ['qa-'] }, 'a-qa-', false],
  ['that only holds an end', { type: 'ENDS_WITH_STRING', strings: ['.org'] }, 'a.org.uk', false],
  ['that meets an expression', { type: 'MATCHES_STRING', string: '^A[0-9]+$' }, 'A12', true],
  ['that does not', { type: 'MATCHES_STRING', string: '^A[0-9]+$' }, 'A', false],

  ['that is no number, for a missing one', { type: 'EQUAL_NUMBER' }, 'many', false],
  ['of a number as text', { type: 'EQUAL_NUMBER', number: 25 }, '25', true],
  ['at the least', { type: 'GREATER_THAN_OR_EQUAL_NUMBER', number: 18 }, 18, true],
  ['below the least', { type: 'GREATER_THAN_OR_EQUAL_NUMBER', number: 18 }, 17, false],
  ['at the most', { type: 'LESS_THAN_OR_EQUAL_NUMBER', number: 18 }, 18, true],
  ['above the most', { type: 'LESS_THAN_OR_EQUAL_NUMBER', number: 18 }, '19', false],
  ['in the last minute', { type: 'ON_OR_BEFORE_DATE', date: AT_TEN }, AT_TEN + 59_999, true],
  ['in the next minute', { type: 'ON_OR_BEFORE_DATE', date: AT_TEN }, AT_TEN + 60_000, false],
  ['with an equal set', set('EQUAL', 'x', 'y'), ['y', 'x'], true],
  ['with one of a set', set('ANY_OF', 'x', 'y'), ['y', 'z'], true],
  ['with too few of a set', set('ALL_OF', 'x', 'y'), ['x'], false],
  ['with a part of a set', set('PART_OF', 'x', 'y'), ['x'], true],
  ['of a listed version', { type: 'IN_LIST_SEMVER', strings: ['1.0.0', '2.0.0'] }, '2.0.0', true],
  ['of blanks, for zero', { type: 'EQUAL_NUMBER', number: 0 }, ' ', false],
  ['that is true, for one', { type: 'EQUAL_NUMBER', number: 1 }, true, false],
  ['without a bound', { type: 'GREATER_THAN_OR_EQUAL_NUMBER', number: 1 }, 'Infinity', false],
  ['that is no number, for a range', { type: 'BETWEEN_NUMBER', between: {} }, 'many', false],
  ['for a range without ends', { type: 'BETWEEN_NUMBER' }, 5, true],
  ['below a range', { type: 'BETWEEN_NUMBER', between: { from: 1, to: 3 } }, 0.9, false],
  ['at its lower end', { type: 'BETWEEN_NUMBER', between: { from: 1, to: 3 } }, 1, true],
  ['above a range', { type: 'BETWEEN_NUMBER', between: { from: 1, to: 3 } }, 3.1, false],
  ['above a range that is open above', { type: 'BETWEEN_NUMBER', between: { from: 1 } }, 9, true],
  ['below a range that is open below', { type: 'BETWEEN_NUMBER', between: { to: 3 } }, 0, true],

  ['on a day', { type: 'ON_DATE', date: AT_TEN }, AT_TEN + 13 * 3_600_000, true],
  ['on the day before', { type: 'ON_DATE', date: AT_TEN }, AT_TEN - 11 * 3_600_000, false],
  ['in the minute', { type: 'ON_OR_AFTER_DATE', date: AT_TEN + 30_000 }, AT_TEN, true],
  ['in the minute before', { type: 'ON_OR_AFTER_DATE', date: AT_TEN }, AT_TEN - 1, false],
  [
    'in the first minute of a time',
    { type: 'BETWEEN_DATE', between: { from: AT_TEN + 59_999, to: AT_TEN + 60_000 } },
    AT_TEN,
    true,
  ],
  ['in the last minute of a time', UNTIL_TEN, AT_TEN + 59_999, true],
  ['after a time', UNTIL_TEN, AT_TEN + 60_000, false],

  ['with one more than an equal set', set('EQUAL', 'x', 'y'), ['x', 'y', 'z'], false],
  ['with a part of an equal set', set('EQUAL', 'x', 'y'), ['x'], false],
  ['that holds nothing, for an equal set of nothing', set('EQUAL'), [], false],
  ['of one twice', set('EQUAL', 'x'), ['x', 'x'], true],
  ['with none of a set', set('ANY_OF', 'x', 'y'), ['z'], false],
  ['with all of a set and more', set('ALL_OF', 'x', 'y'), ['x', 'y', 'z'], true],
  ['that holds nothing, for all of nothing', set('ALL_OF'), [], false],
  ['with one beyond a set', set('PART_OF', 'x', 'y'), ['x', 'z'], false],
  ['of numbers, for their texts', set('ANY_OF', '1'), [1], true],
  ['that is no list, for a set', set('ANY_OF', 'x'), 'x', false],
  ['that is no list, for all of nothing', set('ALL_OF'), 'x', false],

  ['that is no version', semver('EQUAL_TO', '1.0.0'), 'one', false],
  ['that is no version, as the one asked for', semver('EQUAL_TO', 'one'), 'one', false],
  ['for a version that is missing', { type: 'EQUAL_TO_SEMVER' }, '1.0.0', false],
  ['for versions without ends', { type: 'BETWEEN_SEMVER' }, '1.0.0', false],
  ['before two versions', VERSION_1, '0.9.9', false],
  ['between two versions', VERSION_1, '1.5.0', true],
  ['after two versions', VERSION_1, '2.0.1', false],
  ['of no listed version', { type: 'IN_LIST_SEMVER', strings: ['1.0.0'] }, '2.0.0', false],
])('a value of an attribute %s', (_situation, matcher, value, expected) => {
  expect(meets(matcher, value)).toBe(expected);
});

it.each<[string, string, unknown, unknown]>([
  ['a date', 'ON_DATE', '2026-10-03', dateMs('2026-10-03')],
  ['milliseconds for a date', 'ON_DATE', '1790000000000', 1_790_000_000_000],
  ['no date for a date', 'ON_DATE', 'soon', 'soon'],
  ['a number for a date', 'ON_DATE', 1, 1],
  ['a text for a set', 'ANY_OF_SET', 'x', ['x']],
  ['a list for a set', 'ANY_OF_SET', ['x'], ['x']],
  ['a date for a text', 'IN_LIST_STRING', '2026-10-03', '2026-10-03'],
])('a value as people write it %s', (_situation, type, value, expected) => {
  expect(asCompared({ type }, value)).toEqual(expected);
});

it.each<[string, boolean]>([
  ['IN_SEGMENT', true],
  ['IN_SPLIT', true],
  ['IN_LARGE_SEGMENT', true],
  ['IN_RULE_BASED_SEGMENT', true],
  ['IN_LIST_STRING', true],
  ['MATCHES_STRING', true],
  ['EQUAL_NUMBER', true],
  ['PART_OF_SET', true],
  ['OF_TOMORROW', false],
  ['', false],
])('a type that evaluators know %s: %s', (type, expected) => {
  expect(isKnownType(type)).toBe(expected);
});

describe('versions', () => {
  const FROM = 'GREATER_THAN_OR_EQUAL_TO';
  const UP_TO = 'LESS_THAN_OR_EQUAL_TO';

  it.each<[string, string]>([
    ['1.9.0', '1.10.0'],
    ['1.2.3', '1.2.4'],
    ['1.2.9', '2.0.0'],
    ['1.0.0-rc', '1.0.0'],
    ['1.0.0-rc', '1.0.0-rc.1'],
    ['1.0.0-rc.9', '1.0.0-rc.10'],
    ['1.0.0-aaa', '1.0.0-zz'],
    ['1.0.0-10', '1.0.0-a'],
    ['1.0.0-1.b', '1.0.0-2.a'],
    ['1.0.0-rc+b', '1.0.0+a'],
  ])('%s comes before %s', (early, late) => {
    const answers = [
      meets(semver(UP_TO, late), early),
      meets(semver(FROM, early), late),
      meets(semver(UP_TO, early), late),
      meets(semver(FROM, late), early),
    ];

    expect(answers).toEqual([true, true, false, false]);
  });

  it.each<[string, string, boolean]>([
    ['001.0.00', '1.0.0', true],
    ['1.0.0-01', '1.0.0-1', true],
    ['1.0.0-rc.1+b', '1.0.0-rc.01+b', true],
    ['1.100.0', '1.10.0', false],
    ['1.0.0-01a', '1.0.0-1a', false],
    ['1.0.0-rc', '1.0.0', false],
    ['1.0.0-a.b', '1.0.0-ab', false],
    ['1.0.0+a', '1.0.0+b', false],
    ['1.23.4', '12.3.4', false],
  ])('%s equals %s: %s', (one, other, expected) => {
    expect(meets(semver('EQUAL_TO', other), one)).toBe(expected);
  });

  it('of two builds are neither before nor after', () => {
    const answers = [FROM, UP_TO].map((type) => meets(semver(type, '1.0.0+b'), '1.0.0+a'));

    expect(answers).toEqual([true, true]);
  });

  it.each(['1.0', '1.0.0.0', '1.0.x', 'a.0.0', '1.0.0-', '1.0.0-a..b', '1.0.0+', '', '1..0'])(
    '"%s" is none',
    (text) => {
      expect(meets(semver('EQUAL_TO', text), text)).toBe(false);
    },
  );
});
