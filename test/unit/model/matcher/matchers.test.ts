import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../../src/model/matcher/condition.js';
import { COMPARISONS, MATCHERS, matcherRow } from '../../../../src/model/matcher/matchers.js';
import { KNOWN_MATCHER_TYPES } from '../../../../src/service/rules/definition-schema.js';

const ROWS = Object.entries(MATCHERS);

describe('the table of matchers', () => {
  it('has the types that the service checks, which the service lists by itself', () => {
    expect(Object.keys(MATCHERS).sort()).toEqual([...KNOWN_MATCHER_TYPES].sort());
  });

  it('has a word for one type only', () => {
    const words = ROWS.flatMap(([, row]) => row.word ?? []);
    expect(words).toHaveLength(new Set(words).size);
    expect(Object.keys(COMPARISONS)).toEqual(words);
  });

  it.each(ROWS)('says of %s in other words that it is negated', (_type, row) => {
    expect(row.phrase).not.toBe('');
    expect(row.negatedPhrase).not.toBe(row.phrase);
  });

  it('has no row for a name that every object inherits', () => {
    expect(matcherRow('constructor')).toBeUndefined();
    const matcher = { type: 'constructor', string: 'a' };
    expect(conditionOf(matcher)).toEqual({ matcher });
  });
});
