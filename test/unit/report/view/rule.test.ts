import { expect, it } from 'vitest';
import type { Matcher } from '../../../../src/model/flag/flag.js';
import { conditionText, matcherText } from '../../../../src/report/view/rule.js';

function words(matcher: Matcher, showKeys = true): string {
  return matcherText(matcher, { showKeys }).replaceAll('\u00a0', ' ');
}

const DAY = Date.UTC(2026, 9, 3);
const strings = ['a', 'b, c'];

it.each<[Matcher, string]>([
  [{ type: 'IN_SEGMENT', string: 'staff' }, 'in segment staff'],
  [{ type: 'IN_SEGMENT', string: 'staff', negate: true }, 'not in segment staff'],
  [{ type: 'IN_LARGE_SEGMENT', string: 'all' }, 'in large segment all'],
  [{ type: 'IN_RULE_BASED_SEGMENT', string: 'eu' }, 'in rule-based segment eu'],
  [
    { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on', 'v2'] } },
    'flag cart serves [on, v2]',
  ],
  [
    { type: 'IN_SPLIT', negate: true, depends: { splitName: 'cart', treatment: 'on' } },
    'flag cart does not serve [on]',
  ],
  [{ type: 'EQUAL_SET', attribute: 'plans', strings }, 'plans is exactly [a, "b, c"]'],
  [{ type: 'ANY_OF_SET', attribute: 'plans', strings }, 'plans has any of [a, "b, c"]'],
  [{ type: 'ALL_OF_SET', attribute: 'plans', strings }, 'plans has all of [a, "b, c"]'],
  [{ type: 'PART_OF_SET', attribute: 'plans', strings }, 'plans is part of [a, "b, c"]'],
  [{ type: 'ON_DATE', attribute: 'since', date: DAY }, 'since on 2026-10-03'],
  [
    { type: 'ON_OR_AFTER_DATE', attribute: 'since', date: DAY + 5_400_000 },
    'since on or after 2026-10-03T01:30:00Z',
  ],
  [
    { type: 'ON_OR_BEFORE_DATE', attribute: 'since', date: DAY, negate: true },
    'since not on or before 2026-10-03',
  ],
  [
    { type: 'BETWEEN_DATE', attribute: 'since', between: { from: 0, to: DAY } },
    'since between 1970-01-01 and 2026-10-03',
  ],
  [{ type: 'EQUAL_NUMBER', attribute: 'age', number: 18 }, 'age = 18'],
  [{ type: 'LESS_THAN_OR_EQUAL_NUMBER', attribute: 'age', number: 18 }, 'age ≤ 18'],
  [{ type: 'GREATER_THAN_OR_EQUAL_NUMBER', attribute: 'age', number: 18 }, 'age ≥ 18'],
  [
    { type: 'BETWEEN_NUMBER', attribute: 'age', between: { from: 18, to: 65 } },
    'age between 18 and 65',
  ],
  [{ type: 'BOOLEAN', attribute: 'beta', bool: true }, 'beta is true'],
  [{ type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES', 'FR'] }, 'country in [ES, FR]'],
  [{ type: 'IN_LIST_STRING', strings: ['user-1'] }, 'key in [user-1]'],
  [{ type: 'STARTS_WITH_STRING', strings: ['qa-'] }, 'key starts with [qa-]'],
  [
    { type: 'ENDS_WITH_STRING', attribute: 'email', strings: ['@a.example'] },
    'email ends with [@a.example]',
  ],
  [
    { type: 'CONTAINS_STRING', attribute: 'email', strings: ['x'], negate: true },
    'email does not contain [x]',
  ],
  [{ type: 'MATCHES_STRING', attribute: 'email', string: '^a b$' }, 'email matches "^a b$"'],
  [{ type: 'EQUAL_TO_SEMVER', attribute: 'app', string: '1.2.3' }, 'app = 1.2.3'],
  [{ type: 'LESS_THAN_OR_EQUAL_TO_SEMVER', attribute: 'app', string: '1.2.3' }, 'app ≤ 1.2.3'],
  [{ type: 'GREATER_THAN_OR_EQUAL_TO_SEMVER', attribute: 'app', string: '1.2.3' }, 'app ≥ 1.2.3'],
  [
    { type: 'BETWEEN_SEMVER', attribute: 'app', between: { from: '1.0.0', to: '2.0.0' } },
    'app between 1.0.0 and 2.0.0',
  ],
  [{ type: 'IN_LIST_SEMVER', attribute: 'app', strings: ['1.0.0'] }, 'app in [1.0.0]'],
  // What words cannot describe completely is shown as it is.
  [{ type: 'NEAR', attribute: 'geo', km: 5 }, 'NEAR {"attribute":"geo","km":5}'],
  [{ type: 'constructor' }, 'constructor {}'],
  [{ type: 'IN_SEGMENT', string: 'staff', until: 5 }, 'IN_SEGMENT {"string":"staff","until":5}'],
  [{ type: 'EQUAL_NUMBER', attribute: 'age' }, 'EQUAL_NUMBER {"attribute":"age"}'],
  [{ type: 'BOOLEAN', bool: true }, 'BOOLEAN {"bool":true}'],
  [
    { type: 'ON_DATE', attribute: 'since', date: 1e18 },
    'ON_DATE {"attribute":"since","date":1000000000000000000}',
  ],
])('the matcher %j reads as words', (matcher, expected) => {
  expect(words(matcher)).toBe(expected);
});

it('counts listed keys unless they are asked for', () => {
  const matcher: Matcher = { type: 'IN_LIST_STRING', strings: ['user-1', 'user-2'] };

  expect(words(matcher, false)).toMatch(/^key in a list of 2 keys \(sha256 [0-9a-f]{8}…\)$/);
  expect(words({ ...matcher, odd: 1 }, false)).not.toContain('user-1');
});

it('joins matchers with and; none at all is always', () => {
  const matchers: Matcher[] = [
    { type: 'IN_SEGMENT', string: 'staff' },
    { type: 'BOOLEAN', attribute: 'beta', bool: false },
  ];
  expect(conditionText(matchers, { showKeys: false }).replaceAll('\u00a0', ' ')).toBe(
    'in segment staff and beta is false',
  );
  expect(conditionText([], { showKeys: false })).toBe('always');
});
