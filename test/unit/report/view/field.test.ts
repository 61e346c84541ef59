import { expect, it } from 'vitest';
import type { Matcher, Rule } from '../../../../src/model/flag/flag.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import type { FieldContext } from '../../../../src/report/view/rule.js';
import { fieldLines, wholeLines } from '../../../../src/report/view/field.js';
import { aField, keyChange, manyKeys } from '../../../support/plan-builder.js';

function lines(field: FieldChange, context: FieldContext = { showKeys: false }): string[] {
  return fieldLines(field, context).map((spans) =>
    spans
      .map(({ text }) => text)
      .join('')
      .replaceAll('\u00a0', ' '),
  );
}

const buckets = (...sizes: readonly [string, number][]) =>
  sizes.map(([treatment, size]) => ({ treatment, size }));

const inSegment = (string: string): Matcher => ({ type: 'IN_SEGMENT', string });
const inCountry = (...strings: string[]): Matcher => ({
  type: 'IN_LIST_STRING',
  attribute: 'country',
  strings,
});
const rule = (matchers: Matcher | readonly Matcher[], on = 100): Rule => ({
  matchers: [matchers].flat(),
  buckets: on === 100 ? buckets(['on', 100]) : buckets(['on', on], ['off', 100 - on]),
});
const [a, b, c] = [rule(inSegment('a')), rule(inSegment('b'), 40), rule(inSegment('c'), 30)];
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

it.each<[string, string, unknown, unknown, string[], FieldContext?]>([
  [
    'sizes that change, and those that stay',
    '/defaultRule',
    buckets(['on', 10], ['off', 85], ['v3', 5]),
    buckets(['on', 25], ['off', 70], ['v3', 5]),
    ['defaultRule: on 10 → 25 %, off 85 → 70 %, v3 5 %'],
  ],
  [
    'a treatment that comes and one that goes',
    '/defaultRule',
    buckets(['on', 100]),
    buckets(['v2', 100]),
    ['defaultRule: v2 0 → 100 %, on 100 → 0 %'],
  ],
  [
    'a bucket of size 0, where there was none',
    '/defaultRule',
    buckets(['on', 100]),
    buckets(['on', 100], ['off', 0]),
    ['defaultRule: on 100 %, off none → 0 %'],
  ],
  [
    'the order of buckets alone, since that moves users',
    '/defaultRule',
    buckets(['on', 50], ['off', 50]),
    buckets(['off', 50], ['on', 50]),
    ['defaultRule: off 50 %, on 50 %, bucket order [on, off] → [off, on] (moves users)'],
  ],
  [
    'buckets that name a treatment twice, whole',
    '/defaultRule',
    buckets(['on', 50], ['on', 50]),
    buckets(['on', 100]),
    ['defaultRule: on 50 %, on 50 % → on 100 %'],
  ],
  [
    'rules that others were put before',
    '/rules',
    [a, b],
    [c, a, b],
    ['+ rule 1: if in segment c, serve on 30 %, off 70 %', '2 rules unchanged'],
  ],
  [
    'a rule that was taken out, with the place it had',
    '/rules',
    [a, b, c],
    [a, c],
    ['- rule 2: if in segment b, serve on 40 %, off 60 %', '2 rules unchanged'],
  ],
  [
    'a rule that moved, with both places',
    '/rules',
    [a, b, c],
    [c, a, b],
    ['~ rule 3 → 1: if in segment c, serve on 30 %, off 70 %', '2 rules unchanged'],
  ],
  [
    'a rule that asks for something else, with both conditions',
    '/rules',
    [a, b],
    [a, rule([inSegment('b'), inCountry('ES')], 40)],
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
    [a],
    [a, b],
    ['+ rule 2 "half of b": if in segment b, serve on 40 %, off 60 %', '1 rule unchanged'],
    { showKeys: false, ruleNames: [undefined, 'half\nof b'] },
  ],
  [
    'rules that have nothing in common',
    '/rules',
    [a],
    [b],
    [
      '- rule 1: if in segment a, serve on 100 %',
      '+ rule 1: if in segment b, serve on 40 %, off 60 %',
    ],
  ],
  [
    'a rule that stood twice',
    '/rules',
    [a, a],
    [a],
    ['- rule 2: if in segment a, serve on 100 %', '1 rule unchanged'],
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
    [b],
    [
      `- rule 1: if country in [${K30.join(', ')}], serve on 100 %`,
      '+ rule 1: if in segment b, serve on 40 %, off 60 %',
    ],
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

it.each<['before' | 'after', FieldContext, string[]]>([
  [
    'after',
    { showKeys: false, ruleNames: ['half'] },
    [
      '!! killed: YES (everyone gets the default treatment)',
      'treatments on · trafficAllocation 50 % · description "Pay"',
      'rule 1 "half": if in segment b, serve on 40 %, off 60 %',
    ],
  ],
  [
    'before',
    { showKeys: false, ruleNames: ['half'] },
    [
      'killed · treatments on · trafficAllocation 50 % · description "Pay"',
      'rule 1: if in segment b, serve on 40 %, off 60 %',
    ],
  ],
  [
    'before',
    IN_FULL,
    [
      'killed · treatments on · trafficAllocation 50 % · description "Pay"',
      '- treatment on: description "New"',
      'rule 1: if in segment b, serve on 40 %, off 60 %',
    ],
  ],
])(
  'what a whole object has on the side %s is a paragraph and its rules',
  (side, context, expected) => {
    const values = {
      '/killed': true,
      '/treatments': [{ name: 'on', description: 'New' }],
      '/rules': [b],
      '/trafficAllocation': 50,
      '/description': 'Pay',
    };
    const fields = Object.entries(values).map(([path, value]) => aField(path, value, value));
    const words = wholeLines({ fields }, side, context).map((spans) =>
      spans.map(({ text }) => text),
    );

    expect(words.map((texts) => texts.join('').replaceAll('\u00a0', ' '))).toEqual(expected);
  },
);
