import { describe, expect, it } from 'vitest';
import type { Definition, Matcher } from '../../../../src/model/flag/flag.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import {
  questionsOf,
  servedDefinition,
  servingOf,
  wholeFromWire,
  withChanges,
  type Question,
  type ServedDefinition,
} from '../../../../src/plan/impact/served-definition.js';
import { constantServing, type Serving } from '../../../../src/plan/impact/serving.js';
import { DEFINITION, inSegment, liveDefinition, onShare } from '../../../support/builders.js';
import { aField, keyChange } from '../../../support/plan-builder.js';

function whole(said: Definition = {}, segments: Readonly<Record<string, readonly string[]>> = {}) {
  return { fields: { ...DEFINITION, ...said }, segments };
}

function targetsChange(
  treatment: string,
  added: readonly string[],
  removed: readonly string[] = [],
): FieldChange {
  return { path: `/targets/${treatment}`, reason: 'commit', keys: keyChange(added, removed) };
}

function treatmentsOf(...names: string[]): Definition['treatments'] & object {
  return names.map((name) => ({ name, description: '' }));
}

/** The treatments of a serving, each once. */
function treatmentsIn({ places }: Serving): (string | undefined)[] {
  return [...new Set(places.map((served) => served?.treatment))];
}

function at(
  served: ServedDefinition,
  key: string | undefined,
  yes: readonly string[] = [],
): string {
  const target = key === undefined ? undefined : served.targets.get(key);
  const serving = servingOf<never>(served, target, (question) => yes.includes(wordsOf(question)));
  return treatmentsIn(serving).join('/');
}

function wordsOf(question: Question): string {
  switch (question.about) {
    case 'list':
      return question.list;
    case 'flag':
      return `${question.flag}: ${question.treatments.join()}`;
    case 'unknown':
      return question.id;
  }
}

describe('a definition with changes', () => {
  it.each<[string, Definition, FieldChange[], Definition]>([
    [
      'of a field',
      { killed: true },
      [aField('/defaultTreatment', 'off', 'on')],
      { killed: true, defaultTreatment: 'on', targets: { on: [], off: [] } },
    ],
    [
      'of targets',
      { targets: { on: ['ana', 'bob'], off: ['cleo'] } },
      [targetsChange('on', ['dan'], ['ana']), targetsChange('off', ['ana'])],
      { targets: { on: ['bob', 'dan'], off: ['cleo', 'ana'] } },
    ],
    [
      'of a treatment that gets its first targets',
      {},
      [targetsChange('on', ['ana'])],
      { targets: { on: ['ana'], off: [] } },
    ],
    [
      'of a treatment that is removed, with its targets',
      { treatments: treatmentsOf('on', 'off', 'beta'), targets: { beta: ['ana'] } },
      [aField('/treatments', null, treatmentsOf('on', 'off'))],
      { treatments: treatmentsOf('on', 'off'), targets: { on: [], off: [] } },
    ],
    [
      'of treatments, where a configuration is not said',
      { treatments: [{ name: 'on', description: '', configuration: { limit: 1 } }] },
      [aField('/treatments', null, treatmentsOf('on', 'off'))],
      {
        treatments: [
          { name: 'on', description: '', configuration: { limit: 1 } },
          { name: 'off', description: '' },
        ],
        targets: { on: [], off: [] },
      },
    ],
    [
      'of treatments, where a configuration is said',
      { treatments: [{ name: 'on', description: '', configuration: { limit: 1 } }] },
      [aField('/treatments', null, [{ name: 'on', description: '', configuration: { limit: 2 } }])],
      {
        treatments: [{ name: 'on', description: '', configuration: { limit: 2 } }],
        targets: { on: [] },
      },
    ],
  ])('%s', (_situation, before, changes, after) => {
    const changed = withChanges(whole(before, { on: ['staff'] }), changes);

    expect(changed).toStrictEqual(whole({ ...before, ...after }, { on: ['staff'] }));
  });
});

describe('a definition of the service', () => {
  it('has the segments that its treatments target whole', () => {
    const live = liveDefinition('shop', 'production', onShare(20));
    const [on, off] = live.treatments;
    const treatments = [
      { ...on, name: 'on', segments: ['staff'] },
      { ...off, name: 'off' },
    ];

    expect(wholeFromWire({ ...live, treatments }).segments).toEqual({ on: ['staff'], off: [] });
  });
});

describe('the order of evaluation', () => {
  const served = servedDefinition(
    whole(
      {
        ...inSegment('beta'),
        ...onShare(0),
        defaultRule: [{ treatment: 'three', size: 100 }],
        treatments: treatmentsOf('on', 'off', 'two', 'three'),
        targets: { two: ['ana', 'bob'], off: ['ana'] },
        trafficAllocation: 60,
      },
      { two: ['staff', 'guests'] },
    ),
  );

  it.each<[string, string | undefined, string[], string]>([
    ['the first treatment that targets a key', 'ana', ['segment/staff'], 'off'],
    ['the treatment that targets it', 'bob', ['segment/staff'], 'two'],
    ['a segment that is targeted whole', undefined, ['segment/staff', 'segment/beta'], 'two'],
    ['another that is', undefined, ['segment/guests'], 'two'],
    ['a rule', undefined, ['segment/beta'], 'on'],
    ['the default rule', undefined, [], 'three'],
  ])('comes to %s', (_point, key, yes, expected) => {
    expect(at(served, key, yes)).toBe(expected);
  });

  it('applies the allocation to rules alone', () => {
    const [target] = [...served.targets.values()];
    const points = [target, ...served.branches.map(({ serving }) => serving), served.otherwise];

    expect(points.map((serving) => serving?.allocation)).toEqual([100, 100, 100, 60, 60]);
    expect(served.otherwise.unallocated?.treatment).toBe('off');
  });

  it('ends at the default treatment while the flag is killed, and keeps what a restore serves', () => {
    const matchers = [{ type: 'IN_LIST_STRING', strings: ['ana'] }];
    const rules = [{ matchers, buckets: onShare(100).defaultRule }];
    const killed = servedDefinition(whole({ rules, targets: { on: ['bob'] }, killed: true }));

    expect([at(killed, undefined), at(killed, 'bob')]).toEqual(['off', 'off']);
    expect([...killed.listedKeys.values()]).toEqual([['ana']]);
    expect(questionsOf(killed)).toEqual([]);
    expect(killed.restored && at(killed.restored, 'bob')).toBe('on');
    expect(killed.restored?.whole.fields.killed).toBe(false);
    expect(killed.restored?.restored).toBeUndefined();
  });

  it('stops at the first open question, unless another answer decides', () => {
    const open = { open: true };
    const asked: Question = { about: 'list', list: 'x', negated: false };
    const denied: Question = { ...asked, list: 'no' };
    const [one, other] = [constantServing(null), constantServing(null)];
    const point = (...branches: Question[][]) =>
      servingOf(
        {
          ...served,
          branches: branches.map((questions) => ({ questions, serving: one })),
          otherwise: other,
        },
        undefined,
        (question) => (question === asked ? open : question !== denied),
      );

    expect(point([asked])).toBe(open);
    expect(point([asked, denied])).toBe(other);
    expect(point([denied, asked])).toBe(other);
    expect(point([{ ...asked, list: 'yes' }], [asked])).toBe(one);
    expect(point([{ ...denied, list: 'yes', negated: true }])).toBe(other);
  });
});

describe('the question of a matcher', () => {
  const LISTED = '{"strings":["ana","bob"],"type":"IN_LIST_STRING"}';

  it.each<[string, Matcher, string, boolean]>([
    ['for a segment', { type: 'IN_SEGMENT', string: 'staff' }, 'list segment/staff', false],
    [
      'that is negated',
      { type: 'IN_SEGMENT', string: 'staff', negate: true },
      'list segment/staff',
      true,
    ],
    [
      'for another flag',
      { type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on'] }, negate: true },
      'flag cart: on',
      true,
    ],
    [
      'for listed keys, in any order',
      { type: 'IN_LIST_STRING', strings: ['bob', 'ana'], negate: true },
      `list keys/${LISTED}`,
      true,
    ],
    [
      'for an attribute',
      { type: 'IN_LIST_STRING', attribute: 'name', strings: ['ana'] },
      'unknown {"attribute":"name","strings":["ana"],"type":"IN_LIST_STRING"}',
      false,
    ],
    [
      'for the start of the key',
      { type: 'STARTS_WITH_STRING', strings: ['a'], negate: true },
      'unknown {"strings":["a"],"type":"STARTS_WITH_STRING"}',
      true,
    ],
    [
      'for a list that is none',
      { type: 'IN_LIST_STRING', strings: 'ana' },
      'unknown {"strings":"ana","type":"IN_LIST_STRING"}',
      false,
    ],
    [
      'for a list that holds more than texts',
      { type: 'IN_LIST_STRING', strings: ['ana', { key: 'bob' }] },
      'unknown {"strings":["ana",{"key":"bob"}],"type":"IN_LIST_STRING"}',
      false,
    ],
  ])('%s', (_situation, matcher, expected, negated) => {
    const rules = [{ matchers: [matcher], buckets: onShare(100).defaultRule }];
    const served = servedDefinition(whole({ rules }));
    const [question] = questionsOf(served);
    const list = question?.about === 'list' ? question.list : '';

    expect(question && `${question.about} ${wordsOf(question)}`).toBe(expected);
    expect(question?.negated).toBe(negated);
    expect(served.listedKeys.get(list)).toEqual(
      list.startsWith('keys/') ? ['ana', 'bob'] : undefined,
    );
  });

  it('is none without a definition', () => {
    expect([...questionsOf(null), ...questionsOf(undefined)]).toEqual([]);
  });
});

describe('the configuration of a treatment', () => {
  it.each([
    ['that is null counts as none', null, undefined, true],
    ['of the same members is the same in any order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['of another value is another', { a: 1 }, { a: 2 }, false],
    ['that is said is another than none', { a: 1 }, undefined, false],
  ])('%s', (_situation, one, other, expected) => {
    const [text, otherText] = [one, other].map((configuration) => {
      const treatments = [
        { name: 'on', description: '', ...(configuration !== undefined && { configuration }) },
      ];
      return servedDefinition(whole({ treatments, ...onShare(100) })).otherwise.places[0]
        ?.configuration;
    });

    expect(text === otherText).toBe(expected);
    expect(text?.length).toBeLessThanOrEqual(64);
  });
});
