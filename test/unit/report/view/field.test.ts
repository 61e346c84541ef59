import { expect, it } from 'vitest';
import type { Matcher, Rule } from '../../../../src/model/flag/flag.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import type { FieldLine } from '../../../../src/report/text/layout.js';
import type { FieldContext } from '../../../../src/report/view/rule.js';
import { fieldLines, wholeLines } from '../../../../src/report/view/field.js';
import { aField, keyChange, manyKeys } from '../../../support/plan-builder.js';

const textsOf = (lines: readonly FieldLine[]): string[] =>
  lines.map((spans) => spans.map(({ text }) => text.replaceAll('\u00a0', ' ')).join(''));

const lines = (field: FieldChange, context: FieldContext = { showKeys: false }): string[] =>
  textsOf(fieldLines(field, context));

/** `on 10, off 90`. */
const shares = (text: string) =>
  text.split(', ').map((share) => {
    const [treatment = '', size] = share.split(' ');
    return { treatment, size: Number(size) };
  });

const inSegment = (string: string): Matcher => ({ type: 'IN_SEGMENT', string });
const inCountry = (...strings: string[]): Matcher => ({
  type: 'IN_LIST_STRING',
  attribute: 'country',
  strings,
});
const rule = (matchers: Matcher | readonly Matcher[], served = 'on 100'): Rule => ({
  matchers: [matchers].flat(),
  buckets: shares(served),
});
const RULES: Readonly<Record<string, Rule>> = {
  a: rule(inSegment('a')),
  b: rule(inSegment('b'), 'on 40, off 60'),
  c: rule(inSegment('c'), 'on 30, off 70'),
};
/** `a b`. */
const rules = (names: string) => names.split(' ').flatMap((name) => RULES[name] ?? []);
const listing = (...strings: string[]) => [rule({ type: 'IN_LIST_STRING', strings })];
const onWith = (configuration: unknown, description?: string) => [
  { name: 'on', ...(description !== undefined && { description }), configuration },
];
const [LETTERS, LATER] = ['a\nb\n  c: 1\nd', 'a\r\nb\n  c: 2\n  e\nd'];
const ONE_PAGE = 'One-page checkout that replaces the flow of three steps which we had for ';
const K30 = manyKeys('k', 30);
const TREATMENTS = [
  { name: 'on', description: 'New', configuration: { steps: 3, color: 'red' } },
  { name: 'off' },
  { name: 'old' },
];
const LATER_TREATMENTS = [
  { name: 'off' },
  { name: 'on', description: 'Newer', configuration: { steps: 4, color: 'red' } },
  { name: 'v3', description: 'Third' },
];
const GONE = [
  { name: 'on', description: '' },
  { name: 'old', description: 'Old way', configuration: { color: 'red' } },
  { name: 'long', description: 'a\nb' },
  { name: 'bare', description: '' },
];
const SHOWN = { showKeys: true };
const IN_FULL = { showKeys: true, inFull: true };

it.each([
  ['on 10, off 85, v3 5', 'on 25, off 70, v3 5', 'on 10 → 25 %, off 85 → 70 %, v3 5 %'],
  ['on 100', 'v2 100', 'v2 0 → 100 %, on 100 → 0 %'],
  ['on 100', 'on 100, off 0', 'on 100 %, off none → 0 %'],
  // The order of buckets alone moves users.
  [
    'on 50, off 50',
    'off 50, on 50',
    'off 50 %, on 50 %, bucket order [on, off] → [off, on] (moves users)',
  ],
  // Sizes by treatment would hide one of two buckets of the same.
  ['on 50, on 50', 'on 100', 'on 50 %, on 50 % → on 100 %'],
])('shares that go from %s to %s read %s', (before, after, words) => {
  const change = aField('/defaultRule', shares(before), shares(after));

  expect(lines(change)).toEqual([`defaultRule: ${words}`]);
});

const A = 'if in segment a, serve on 100 %';
const B = 'if in segment b, serve on 40 %, off 60 %';
const C = 'if in segment c, serve on 30 %, off 70 %';
it.each([
  ['a b', 'c a b', [`+ rule 1: ${C}`, '2 rules unchanged']],
  ['a b c', 'a c', [`- rule 2: ${B}`, '2 rules unchanged']],
  ['a b c', 'c a b', [`~ rule 3 → 1: ${C}`, '2 rules unchanged']],
  ['a', 'b', [`- rule 1: ${A}`, `+ rule 1: ${B}`]],
  ['a a', 'a', [`- rule 2: ${A}`, '1 rule unchanged']],
])('rules that go from %s to %s have the place that they had or get', (before, after, expected) => {
  expect(lines(aField('/rules', rules(before), rules(after)))).toEqual(expected);
});

it.each<[string, string, unknown, unknown, string[], FieldContext?]>([
  [
    'a rule that asks for something else, with both conditions',
    '/rules',
    rules('a b'),
    [...rules('a'), rule([inSegment('b'), inCountry('ES')], 'on 40, off 60')],
    [
      '~ rule 2: if in segment b → in segment b and country in [ES], serve on 40 %, off 60 %',
      '1 rule unchanged',
    ],
  ],
  [
    'a rule whose list changed, however long the list',
    '/rules',
    [rule([inSegment('b'), inCountry('FR', ...manyKeys('X', 40))])],
    [rule([inSegment('b'), inCountry('IT', ...manyKeys('X', 40))])],
    ['~ rule 1: if in segment b and country in [+ IT; − FR] of 41, serve on 100 %'],
  ],
  [
    'a rule by its name',
    '/rules',
    rules('a'),
    rules('a b'),
    [`+ rule 2 "half of b": ${B}`, '1 rule unchanged'],
    { showKeys: false, ruleNames: [undefined, 'half\nof b'] },
  ],
  [
    'a rule that lists keys, by their number',
    '/rules',
    listing('user-1', 'user-2'),
    listing('user-1', 'user-3'),
    ['~ rule 1: if key in a list of keys (+1 −1), serve on 100 %'],
  ],
  [
    'a rule that lists keys, by name when asked to',
    '/rules',
    listing('user-1', 'user-2'),
    listing('user-1', 'user-3'),
    ['~ rule 1: if key in [+ user-3; − user-2] of 2, serve on 100 %'],
    SHOWN,
  ],
  [
    'every value of rules that come and go, in full',
    '/rules',
    [rule(inCountry(...K30))],
    rules('b'),
    [`- rule 1: if country in [${K30.join(', ')}], serve on 100 %`, `+ rule 1: ${B}`],
    IN_FULL,
  ],
  [
    'treatments that come, go and change, and a changed order',
    '/treatments',
    TREATMENTS,
    LATER_TREATMENTS,
    [
      '- treatment old',
      '~ treatment on: description "New" → "Newer"; configuration steps 3 → 4',
      '+ treatment v3: description "Third"',
      '~ treatments: bucket order [on, off] → [off, on] (moves users)',
    ],
  ],
  [
    'what a removed treatment had, in full',
    '/treatments',
    GONE,
    GONE.slice(0, 1),
    [
      '- treatment old: description "Old way"; configuration {"color":"red"}',
      '- treatment long',
      'treatment long description: from line 1',
      '- a',
      '- b',
      '- treatment bare',
    ],
    IN_FULL,
  ],
  [
    'configurations that differ in a line break alone, as JSON',
    '/treatments',
    onWith('a b'),
    onWith('a\nb'),
    ['~ treatment on: configuration "a b" → "a\\nb"'],
  ],
  [
    'members of a configuration that do, as JSON',
    '/treatments',
    onWith({ text: 'a b' }),
    onWith({ text: 'a\nb' }),
    ['~ treatment on: configuration text "a b" → "a\\nb"'],
  ],
  [
    'the lines of a configuration that differ, in full',
    '/treatments',
    onWith(LETTERS, 'old'),
    onWith('a\nb\nd', 'new'),
    [
      '~ treatment on: description "old" → "new"',
      'treatment on configuration: from line 3',
      '-   c: 1',
    ],
    IN_FULL,
  ],
  [
    'the lines of a text that differ, in full',
    '/description',
    LETTERS,
    LATER,
    ['description: from line 3', '-   c: 1', '+   c: 2', '+   e'],
    IN_FULL,
  ],
  [
    'lines that differ in white space alone, as JSON',
    '/description',
    'a\tb\nc',
    'a b\r\nc',
    ['description: "a\\tb\\nc" → "a b\\r\\nc"'],
    IN_FULL,
  ],
  [
    'a long text, cut around what changed',
    '/description',
    `${ONE_PAGE}ten years.`,
    `${ONE_PAGE}twelve years.`,
    ['description: "…which we had for ten years." → "…which we had for twelve years."'],
  ],
  [
    'a kill of which nothing saw the old value',
    '/killed',
    undefined,
    true,
    ['!! killed: YES (everyone gets the default treatment)'],
  ],
  ['tags that come and go', '/tags', ['a', 'kept'], ['b', 'kept'], ['tags: +b −a']],
  ['a scalar', '/rolloutStatus', 'Ready Now', 'Ramping', ['rolloutStatus: "Ready Now" → Ramping']],
  ['a scalar that is new', '/defaultTreatment', undefined, 'off', ['defaultTreatment: none → off']],
  [
    'a value that is not what its field holds, as JSON',
    '/rules',
    [{ odd: 1 }],
    [],
    ['rules: [{"odd":1}] → none'],
  ],
  [
    'a difference that has no words, as JSON',
    '/treatments',
    [{ name: 'a', x: 1 }],
    [{ name: 'a', x: 2 }],
    ['treatments: [{"name":"a","x":1}] → [{"name":"a","x":2}]'],
  ],
  ['a field without words, as JSON', '/flagSets', undefined, ['s'], ['flagSets: none → ["s"]']],
])('a change of a field shows %s', (_, path, before, after, expected, context) => {
  expect(lines(aField(path, before, after), context)).toEqual(expected);
});

it.each<[string, FieldContext, string]>([
  ['counted', { showKeys: false }, ''],
  [
    'named, the first five, when asked to',
    SHOWN,
    ': + k-001, k-002, k-003, k-004, k-005, … 25 more; − gone',
  ],
  ['all named in full', IN_FULL, `: + ${K30.join(', ')}; − gone`],
])('keys of targets are %s', (_, context, names) => {
  const field: FieldChange = {
    path: '/targets/v~11',
    reason: 'commit',
    keys: keyChange(K30, ['gone']),
  };

  expect(lines(field, context)).toEqual([`targets of v/1: +30 −1 keys${names}`]);
});

const WHOLE = 'treatments on · trafficAllocation 50 % · description "Pay"';
it.each<['before' | 'after', FieldContext, string[]]>([
  [
    'after',
    { showKeys: false, ruleNames: ['half'] },
    ['!! killed: YES (everyone gets the default treatment)', ...[WHOLE, `rule 1 "half": ${B}`]],
  ],
  ['before', { showKeys: false, ruleNames: ['half'] }, [`killed · ${WHOLE}`, `rule 1: ${B}`]],
  ['before', IN_FULL, [`killed · ${WHOLE}`, '- treatment on: description "New"', `rule 1: ${B}`]],
])(
  'a whole object on the side %s, with %j, is a paragraph and its rules',
  (side, context, expected) => {
    const values = {
      '/killed': true,
      '/treatments': [{ name: 'on', description: 'New' }],
      '/rules': rules('b'),
      '/trafficAllocation': 50,
      '/description': 'Pay',
    };
    const fields = Object.entries(values).map(([path, value]) => aField(path, value, value));

    expect(textsOf(wholeLines({ fields }, side, context))).toEqual(expected);
  },
);
