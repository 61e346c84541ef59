import { describe, expect, it } from 'vitest';
import type { Matcher, Rule } from '../../../../src/model/flag/flag.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import type { FieldContext } from '../../../../src/report/view/rule.js';
import { fieldLines } from '../../../../src/report/view/field.js';
import { aField, keyChange, manyKeys } from '../../../support/plan-builder.js';

function lines(field: FieldChange, context: FieldContext = { showKeys: false }): string[] {
  return fieldLines(field, context).map((spans) =>
    spans
      .map(({ text }) => text)
      .join('')
      .replaceAll('\u00a0', ' '),
  );
}

const changed = (path: string, before: unknown, after: unknown): string[] =>
  lines(aField(path, before, after));

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
const rulesOf = (
  before: readonly Rule[],
  after: readonly Rule[],
  context?: FieldContext,
): string[] => lines(aField('/rules', before, after), context);

describe('buckets', () => {
  it('show each size before and after, and those that stay', () => {
    const before = buckets(['on', 10], ['off', 85], ['v3', 5]);
    const after = buckets(['on', 25], ['off', 70], ['v3', 5]);

    expect(changed('/defaultRule', before, after)).toEqual([
      'defaultRule: on 10 → 25 %, off 85 → 70 %, v3 5 %',
    ]);
  });

  it('show a treatment that comes and one that goes', () => {
    const [before, after] = [buckets(['on', 100]), buckets(['v2', 100])];
    expect(changed('/defaultRule', before, after)).toEqual([
      'defaultRule: v2 0 → 100 %, on 100 → 0 %',
    ]);
  });

  it('tell a bucket of size 0 from none', () => {
    const [before, after] = [buckets(['on', 100]), buckets(['on', 100], ['off', 0])];
    expect(changed('/defaultRule', before, after)).toEqual([
      'defaultRule: on 100 %, off none → 0 %',
    ]);
  });

  it('warn where only their order changes, since that moves users', () => {
    const before = buckets(['on', 50], ['off', 50]);
    expect(changed('/defaultRule', before, before.toReversed())).toEqual([
      'defaultRule: off 50 %, on 50 %, bucket order [on, off] → [off, on] (moves users)',
    ]);
  });

  it('that name a treatment twice are shown whole', () => {
    const before = buckets(['on', 50], ['on', 50]);
    expect(changed('/defaultRule', before, buckets(['on', 100]))).toEqual([
      'defaultRule: on 50 %, on 50 % → on 100 %',
    ]);
  });
});

describe('rules', () => {
  const a = rule(inSegment('a'));
  const b = rule(inSegment('b'), 40);
  const c = rule(inSegment('c'), 30);

  it('that others were put before have not moved', () => {
    expect(rulesOf([a, b], [c, a, b])).toEqual([
      '+ rule 1: if in segment c, serve on 30 %, off 70 %',
      '2 rules unchanged',
    ]);
  });

  it('that were taken out are shown with the place they had', () => {
    expect(rulesOf([a, b, c], [a, c])).toEqual([
      '- rule 2: if in segment b, serve on 40 %, off 60 %',
      '2 rules unchanged',
    ]);
  });

  it('that moved are shown alone, with both places', () => {
    expect(rulesOf([a, b, c], [c, a, b])).toEqual([
      '~ rule 3 → 1: if in segment c, serve on 30 %, off 70 %',
      '2 rules unchanged',
    ]);
  });

  it('that serve something else keep their condition', () => {
    expect(rulesOf([b], [rule(inSegment('b'), 50)])).toEqual([
      '~ rule 1: if in segment b, serve on 40 → 50 %, off 60 → 50 %',
    ]);
  });

  it('that ask for something else show both conditions whole', () => {
    const wider = rule([inSegment('b'), inCountry('ES')], 40);
    expect(rulesOf([a, b], [a, wider])).toEqual([
      '~ rule 2: if in segment b → in segment b and country in [ES], serve on 40 %, off 60 %',
      '1 rule unchanged',
    ]);
  });

  it('whose lists changed show what came and went, however long the list', () => {
    const before = rule([inSegment('b'), inCountry('FR', ...manyKeys('X', 40))]);
    const after = rule([inSegment('b'), inCountry('IT', ...manyKeys('X', 40))]);
    expect(rulesOf([before], [after])).toEqual([
      '~ rule 1: if in segment b and country in [+ IT; − FR] of 41, serve on 100 %',
    ]);
  });

  it('bear their names where they have one', () => {
    expect(rulesOf([a], [a, b], { showKeys: false, ruleNames: [undefined, 'half\nof b'] })).toEqual(
      ['+ rule 2 "half of b": if in segment b, serve on 40 %, off 60 %', '1 rule unchanged'],
    );
  });

  it('that have nothing in common are one gone and one new', () => {
    expect(rulesOf([a], [b])).toEqual([
      '- rule 1: if in segment a, serve on 100 %',
      '+ rule 1: if in segment b, serve on 40 %, off 60 %',
    ]);
  });

  it('that stand twice are counted twice', () => {
    expect(rulesOf([a, a], [a])).toEqual([
      '- rule 2: if in segment a, serve on 100 %',
      '1 rule unchanged',
    ]);
  });

  it('that list keys show how many, and which only when asked to', () => {
    const listing = (...strings: string[]) => rule({ type: 'IN_LIST_STRING', strings });
    const [before, after] = [listing('user-1', 'user-2'), listing('user-1', 'user-3')];

    expect(rulesOf([before], [after])).toEqual([
      '~ rule 1: if key in a list of keys (+1 −1), serve on 100 %',
    ]);
    expect(rulesOf([before], [after], { showKeys: true })).toEqual([
      '~ rule 1: if key in [+ user-3; − user-2] of 2, serve on 100 %',
    ]);
  });
});

describe('treatments', () => {
  it('show those that come, go and change, and a changed order', () => {
    const before = [
      { name: 'on', description: 'New', configuration: { steps: 3, color: 'red' } },
      { name: 'off' },
      { name: 'old' },
    ];
    const after = [
      { name: 'off' },
      { name: 'on', description: 'Newer', configuration: { steps: 4, color: 'red' } },
      { name: 'v3', description: 'Third' },
    ];

    expect(changed('/treatments', before, after)).toEqual([
      '- treatment old',
      '~ treatment on: description "New" → "Newer"; configuration steps 3 → 4',
      '+ treatment v3: description "Third"',
      '~ treatments: bucket order [on, off] → [off, on] (moves users)',
    ]);
  });

  it('show what a removed one had where everything is shown', () => {
    const before = [
      { name: 'on', description: '' },
      { name: 'old', description: 'Old way', configuration: { color: 'red' } },
      { name: 'long', description: 'a\nb' },
      { name: 'bare', description: '' },
    ];

    const field = aField('/treatments', before, before.slice(0, 1));
    expect(lines(field, { showKeys: true, inFull: true })).toEqual([
      '- treatment old: description "Old way"; configuration {"color":"red"}',
      '- treatment long',
      'treatment long description: from line 1',
      '- a',
      '- b',
      '- treatment bare',
    ]);
  });

  it('show texts of a configuration that differ in a line break alone as JSON', () => {
    const on = (configuration: unknown) => [{ name: 'on', configuration }];
    expect(changed('/treatments', on('a b'), on('a\nb'))).toEqual([
      '~ treatment on: configuration "a b" → "a\\nb"',
    ]);
    expect(changed('/treatments', on({ text: 'a b' }), on({ text: 'a\nb' }))).toEqual([
      '~ treatment on: configuration text "a b" → "a\\nb"',
    ]);
  });
});

describe('a change in full', () => {
  const inFull = { showKeys: true, inFull: true };

  it('names every key, and every value of rules that come and go', () => {
    const names = manyKeys('k', 30);
    const keys = keyChange(names, names);
    const list = names.join(', ');

    expect(lines({ path: '/targets/on', reason: 'commit', keys }, inFull)).toEqual([
      `targets of on: +30 −30 keys: + ${list}; − ${list}`,
    ]);
    const countries = rule(inCountry(...names));
    expect(rulesOf([countries], [rule(inSegment('a'), 40)], inFull)).toEqual([
      `- rule 1: if country in [${list}], serve on 100 %`,
      '+ rule 1: if in segment a, serve on 40 %, off 60 %',
    ]);
  });

  it('shows the lines that differ, of a text of several', () => {
    const [before, after] = ['a\nb\n  c: 1\nd', 'a\r\nb\n  c: 2\n  e\nd'];
    const on = (description: string, configuration: string) => [
      { name: 'on', description, configuration },
    ];

    expect(lines(aField('/description', before, after), inFull)).toEqual([
      'description: from line 3',
      '-   c: 1',
      '+   c: 2',
      '+   e',
    ]);
    expect(lines(aField('/treatments', on('old', before), on('new', 'a\nb\nd')), inFull)).toEqual([
      '~ treatment on: description "old" → "new"',
      'treatment on configuration: from line 3',
      '-   c: 1',
    ]);
  });

  it('shows both sides as JSON where the lines differ in white space alone', () => {
    expect(lines(aField('/description', 'a\tb\nc', 'a b\r\nc'), inFull)).toEqual([
      'description: "a\\tb\\nc" → "a b\\r\\nc"',
    ]);
  });
});

describe('other fields', () => {
  it('shout a kill', () => {
    expect(changed('/killed', false, true)).toEqual([
      '!! killed: no → YES (everyone gets the default treatment)',
    ]);
    expect(changed('/killed', true, false)).toEqual([
      '!! killed: yes → NO (rules and targets decide again)',
    ]);
  });

  it('count keys, and name the first five only when asked to', () => {
    const keys = keyChange(manyKeys('k', 7), ['gone']);
    const field: FieldChange = { path: '/targets/v~11', reason: 'commit', keys };

    expect(lines(field)).toEqual(['targets of v/1: +7 −1 keys']);
    expect(lines(field, { showKeys: true })).toEqual([
      'targets of v/1: +7 −1 keys: + k-001, k-002, k-003, k-004, k-005, … 2 more; − gone',
    ]);
  });

  it('name the tags that come and go, and no others', () => {
    expect(changed('/tags', ['a', 'kept'], ['b', 'kept'])).toEqual(['tags: +b −a']);
  });

  it('show scalars before and after', () => {
    expect(changed('/rolloutStatus', 'Pre-Production', 'Ramping')).toEqual([
      'rolloutStatus: Pre-Production → Ramping',
    ]);
    expect(changed('/defaultTreatment', undefined, 'off')).toEqual([
      'defaultTreatment: none → off',
    ]);
    expect(changed('/trafficAllocation', 100, 50)).toEqual(['trafficAllocation: 100 → 50 %']);
  });

  it('cut long descriptions around what changed', () => {
    const start = 'One-page checkout that replaces the flow of three steps which we had for ';
    expect(changed('/description', `${start}ten years.`, `${start}twelve years.`)).toEqual([
      'description: "…which we had for ten years." → "…which we had for twelve years."',
    ]);
  });

  it('fall back to JSON where a value is not what its field holds, or nothing else can be said', () => {
    expect(changed('/rules', [{ odd: 1 }], [])).toEqual(['rules: [{"odd":1}] → none']);
    expect(changed('/treatments', [{ name: 'a', x: 1 }], [{ name: 'a', x: 2 }])).toEqual([
      'treatments: [{"name":"a","x":1}] → [{"name":"a","x":2}]',
    ]);
    expect(changed('/flagSets', undefined, ['s'])).toEqual(['flagSets: none → ["s"]']);
  });
});
