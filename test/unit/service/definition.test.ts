import { describe, expect, it } from 'vitest';
import { definitionFrom, usesOf } from '../../../src/service/rules/definition.js';
import { KNOWN_MATCHER_TYPES } from '../../../src/service/rules/matchers.js';
import { Problem } from '../../../src/service/http/problem.js';
import { aDefinition, ruleOn } from '../../support/service-calls.js';

const MATCHERS: Readonly<Record<string, object>> = {
  IN_SEGMENT: { string: 'beta' },
  IN_LARGE_SEGMENT: { string: 'beta' },
  IN_RULE_BASED_SEGMENT: { string: 'beta' },
  IN_SPLIT: { depends: { splitName: 'other', treatments: ['on'] } },
  EQUAL_SET: { attribute: 'a', strings: ['x'] },
  ANY_OF_SET: { attribute: 'a', strings: ['x'] },
  ALL_OF_SET: { attribute: 'a', strings: ['x'] },
  PART_OF_SET: { attribute: 'a', strings: ['x'] },
  ON_DATE: { attribute: 'a', date: 1 },
  ON_OR_AFTER_DATE: { attribute: 'a', date: 1 },
  ON_OR_BEFORE_DATE: { attribute: 'a', date: 1 },
  BETWEEN_DATE: { attribute: 'a', between: { from: 1, to: 2 } },
  EQUAL_NUMBER: { attribute: 'a', number: 1 },
  LESS_THAN_OR_EQUAL_NUMBER: { attribute: 'a', number: 1.5 },
  GREATER_THAN_OR_EQUAL_NUMBER: { attribute: 'a', number: 1 },
  BETWEEN_NUMBER: { attribute: 'a', between: { from: 1, to: 2.5 } },
  BOOLEAN: { attribute: 'a', bool: false },
  IN_LIST_STRING: { strings: ['x'] },
  STARTS_WITH_STRING: { attribute: 'a', strings: ['x'] },
  ENDS_WITH_STRING: { strings: ['x'] },
  CONTAINS_STRING: { strings: ['x'] },
  MATCHES_STRING: { attribute: 'a', string: '^x' },
  EQUAL_TO_SEMVER: { attribute: 'a', string: '1.2.3' },
  GREATER_THAN_OR_EQUAL_TO_SEMVER: { attribute: 'a', string: '1.2.3' },
  LESS_THAN_OR_EQUAL_TO_SEMVER: { attribute: 'a', string: '1.2.3' },
  BETWEEN_SEMVER: { attribute: 'a', between: { from: '1.0.0', to: '2.0.0' } },
  IN_LIST_SEMVER: { attribute: 'a', strings: ['1.2.3'] },
};

const withMatcher = (matcher: object): object => aDefinition({ rules: [ruleOn(matcher)] });

describe('matchers', () => {
  it('has an example of every known type', () => {
    expect(Object.keys(MATCHERS).sort()).toEqual([...KNOWN_MATCHER_TYPES].sort());
  });

  it.each(Object.entries(MATCHERS))('takes %s as it is', (type, fields) => {
    const { body } = definitionFrom(withMatcher({ type, negate: true, ...fields }));

    expect(body.rules[0]?.condition.matchers).toEqual([{ type, negate: true, ...fields }]);
  });

  it.each(Object.keys(MATCHERS))('refuses %s without its fields', (type) => {
    expect(() => definitionFrom(withMatcher({ type }))).toThrow(Problem);
  });

  it('keeps a type that it does not know with everything in it', () => {
    const matcher = { type: 'NEXT_YEARS_MATCHER', deep: { list: [1, { x: true }] } };

    expect(definitionFrom(withMatcher(matcher)).body.rules[0]?.condition.matchers).toEqual([
      matcher,
    ]);
  });

  it('leaves out a negate that is false', () => {
    const { body } = definitionFrom(
      withMatcher({ type: 'IN_SEGMENT', negate: false, string: 'beta' }),
    );

    expect(body.rules[0]?.condition.matchers).toEqual([{ type: 'IN_SEGMENT', string: 'beta' }]);
  });

  it('reads one treatment of a dependency as a list of one', () => {
    const { body } = definitionFrom(
      withMatcher({ type: 'IN_SPLIT', depends: { splitName: 'other', treatment: 'on' } }),
    );

    expect(body.rules[0]?.condition.matchers).toEqual([
      { type: 'IN_SPLIT', depends: { splitName: 'other', treatments: ['on'] } },
    ]);
  });
});

describe('what is left out of a definition', () => {
  it('is filled in', () => {
    const { killed, body } = definitionFrom({
      treatments: [{ name: 'on', segments: [] }, { name: 'off' }],
      defaultTreatment: 'off',
      rules: null,
      defaultRule: [{ treatment: 'off', size: 100 }],
    });

    expect(killed).toBe(false);
    expect(body).toEqual({
      treatments: [
        { name: 'on', description: '' },
        { name: 'off', description: '' },
      ],
      defaultTreatment: 'off',
      baselineTreatment: 'off',
      trafficAllocation: 100,
      rules: [],
      defaultRule: [{ treatment: 'off', size: 100 }],
    });
  });

  it('is AND where a condition names no combiner', () => {
    const rule = {
      buckets: [{ treatment: 'on', size: 100 }],
      condition: { matchers: [{ type: 'IN_LIST_STRING', strings: ['x'] }] },
    };

    expect(definitionFrom(aDefinition({ rules: [rule] })).body.rules[0]?.condition.combiner).toBe(
      'AND',
    );
  });
});

describe('sets in a definition', () => {
  it('lose repetitions and keep their order', () => {
    const { body } = definitionFrom(
      aDefinition({ treatments: [{ name: 'on', keys: ['b', 'a', 'b'] }, { name: 'off' }] }),
    );

    expect(body.treatments[0]?.keys).toEqual(['b', 'a']);
  });
});

describe('a definition that contradicts itself', () => {
  const on = { treatment: 'on', size: 100 };
  const sizes = (onSize: number, off: number): object[] => [
    { treatment: 'on', size: onSize },
    { treatment: 'off', size: off },
  ];
  const names = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({ name: `t${index}` }));

  it.each<[string, object]>([
    ['sums to 99', { defaultRule: [{ treatment: 'on', size: 99 }] }],
    [
      'sums to 99 in a rule',
      { rules: [{ ...ruleOn({ type: 'X' }), buckets: [{ ...on, size: 99 }] }] },
    ],
    ['has no bucket', { defaultRule: [] }],
    ['has half a per cent', { defaultRule: sizes(99.5, 0.5) }],
    ['has a negative size', { defaultRule: sizes(101, -1) }],
    ['serves an unknown treatment', { defaultRule: [{ treatment: 'other', size: 100 }] }],
    [
      'serves a treatment twice',
      {
        defaultRule: [
          { treatment: 'on', size: 50 },
          { treatment: 'on', size: 50 },
        ],
      },
    ],
    ['defaults to an unknown treatment', { defaultTreatment: 'other' }],
    ['has an unknown baseline', { baselineTreatment: 'other' }],
    ['has a treatment twice', { treatments: [{ name: 'on' }, { name: 'off' }, { name: 'on' }] }],
    ['has one treatment', { treatments: [{ name: 'off' }] }],
    ['has 21 treatments', { treatments: [{ name: 'on' }, { name: 'off' }, ...names(19)] }],
    [
      'uses a reserved name',
      { treatments: [{ name: 'on' }, { name: 'off' }, { name: 'control' }] },
    ],
    [
      'uses a name with a space',
      { treatments: [{ name: 'on' }, { name: 'off' }, { name: 'a b' }] },
    ],
    ['allocates 101', { trafficAllocation: 101 }],
    ['allocates half a per cent', { trafficAllocation: 0.5 }],
    [
      'has a configuration that is no JSON',
      { treatments: [{ name: 'on', configurations: '{' }, { name: 'off' }] },
    ],
    [
      'targets one key twice',
      {
        treatments: [
          { name: 'on', keys: ['k'] },
          { name: 'off', keys: ['k'] },
        ],
      },
    ],
    ['has a rule without matchers', { rules: [{ buckets: [on], condition: { matchers: [] } }] }],
    [
      'has a rule without buckets',
      { rules: [{ buckets: [], condition: { matchers: [{ type: 'X' }] } }] },
    ],
    [
      'combines with OR',
      { rules: [{ buckets: [on], condition: { combiner: 'OR', matchers: [{ type: 'X' }] } }] },
    ],
    ['has rules that are no list', { rules: {} }],
  ])('is refused when it %s', (_, changed) => {
    expect(() => definitionFrom(aDefinition(changed))).toThrow(Problem);
  });

  it('is taken with 20 treatments', () => {
    const treatments = [{ name: 'on' }, { name: 'off' }, ...names(18)];

    expect(definitionFrom(aDefinition({ treatments })).body.treatments).toHaveLength(20);
  });
});

describe('what a definition uses', () => {
  it('is found in rules and in treatments, each once, sorted', () => {
    const { body } = definitionFrom(
      aDefinition({
        treatments: [{ name: 'on', segments: ['z', 'a'] }, { name: 'off' }],
        rules: [
          ruleOn({ type: 'IN_SEGMENT', string: 'm' }),
          ruleOn({ type: 'IN_SEGMENT', string: 'a' }),
          ruleOn({ type: 'IN_SPLIT', depends: { splitName: 'f', treatments: ['on'] } }),
          ruleOn({ type: 'IN_LARGE_SEGMENT', string: 'large' }),
        ],
      }),
    );

    expect(usesOf(body)).toEqual({ segments: ['a', 'm', 'z'], flags: ['f'] });
  });
});
