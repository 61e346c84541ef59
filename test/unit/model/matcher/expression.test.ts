import { expect, it } from 'vitest';
import { expressionOf } from '../../../../src/model/matcher/expression.js';

it.each([
  ['^INC-\\d+$', 'INC-6012', true],
  ['^INC-\\d+$', 'see INC-6012', false],
  ['example\\.com', 'ana@example.com', true],
  ['a/b', 'xa/b', true],
  ['\\u0041', 'A', true],
  ['^b', 'a\nb', false],
  ['(?<year>\\d{4})', '2026', true],
])('%s is found in %s: %s', (pattern, text, found) => {
  expect(expressionOf(pattern)?.isIn(text)).toBe(found);
});

it('an expression that doubles its time with each character is answered all the same', () => {
  expect(expressionOf('^(a+)+$')?.isIn(`${'a'.repeat(1_000)}!`)).toBe(false);
});

it.each(['[', '(?=a)b', '(?<!a)b', '(a)\\1', '(?i)a'])(
  'nobody here can tell what %s finds',
  (pattern) => {
    expect(expressionOf(pattern)).toBeUndefined();
  },
);
