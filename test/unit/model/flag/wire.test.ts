import { describe, expect, it } from 'vitest';
import {
  canonicalDefinition,
  definitionBody,
  definitionFromWire,
  withFields,
} from '../../../../src/model/flag/wire.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { DEFINITION, liveDefinition } from '../../../support/builders.js';

describe('canonical form of an answer', () => {
  it('holds a configuration as the value that its text is, and a text that is no JSON as itself', () => {
    const live = liveDefinition('pay', 'staging');
    const treatments = [
      { name: 'on', configurations: '{ "steps": 3 }' },
      { name: 'off', configurations: 'three steps' },
      { name: 'none' },
    ];

    expect(definitionFromWire({ ...live, treatments }).treatments).toStrictEqual([
      { name: 'on', description: '', configuration: { steps: 3 } },
      { name: 'off', description: '', configuration: 'three steps' },
      { name: 'none', description: '' },
    ]);
  });

  it('has no configuration where a tool wrote an empty one', () => {
    const live = liveDefinition('pay', 'staging');
    const treatments = ['', 'null', '""'].map((configurations, index) => {
      return { name: `t${index}`, configurations };
    });

    for (const treatment of definitionFromWire({ ...live, treatments }).treatments)
      expect(treatment).not.toHaveProperty('configuration');
    expect(canonicalDefinition({ treatments: [{ name: 'on', configuration: '' }] })).toStrictEqual({
      treatments: [{ name: 'on', configuration: null }],
    });
  });

  it('keeps the order of buckets, which decides who sees what', () => {
    const live = liveDefinition('pay', 'staging', {
      defaultRule: [
        { treatment: 'off', size: 90 },
        { treatment: 'on', size: 10 },
      ],
    });

    expect(definitionFromWire(live).defaultRule.map(({ treatment }) => treatment)).toEqual([
      'off',
      'on',
    ]);
  });
});

describe('canonical form of a spec', () => {
  it('is that of the answer which it gives', () => {
    const rules = [
      {
        matchers: [{ type: 'IN_LIST_STRING', strings: ['b', 'a', 'b'], negate: false }],
        buckets: [
          { treatment: 'on', size: 100 },
          { treatment: 'off', size: 0 },
        ],
      },
    ];
    const defaultRule = [
      { treatment: 'on', size: 0 },
      { treatment: 'off', size: 100 },
    ];

    expect(
      canonicalDefinition({ targets: { on: ['b', 'a', 'b'], off: [] }, rules, defaultRule }),
    ).toStrictEqual({
      targets: { on: ['a', 'b'] },
      rules: [
        {
          matchers: [{ type: 'IN_LIST_STRING', strings: ['a', 'b'] }],
          buckets: [{ treatment: 'on', size: 100 }],
        },
      ],
      defaultRule: [{ treatment: 'off', size: 100 }],
    });
  });

  it('says nothing that the spec does not say', () => {
    expect(canonicalDefinition({ killed: true })).toStrictEqual({ killed: true });
  });
});

it('the body that creates a definition carries targets and configurations in the treatments, and empty descriptions where none are said', () => {
  const matchers = [{ type: 'IN_SEGMENT', string: 'staff' }];
  const buckets = [{ treatment: 'on', size: 100 }];

  expect(
    definitionBody({
      ...DEFINITION,
      treatments: [
        { name: 'on', description: 'On', configuration: { size: 1 } },
        { name: 'off', configuration: null },
        { name: 'none' },
      ],
      targets: { on: ['a', 'b'], none: [] },
      rules: [{ matchers, buckets }],
    }),
  ).toStrictEqual({
    killed: false,
    treatments: [
      { name: 'on', description: 'On', configurations: '{"size":1}', keys: ['a', 'b'] },
      { name: 'off', description: '', configurations: 'null' },
      { name: 'none', description: '' },
    ],
    defaultTreatment: 'off',
    baselineTreatment: 'off',
    trafficAllocation: 100,
    rules: [{ buckets, condition: { combiner: 'AND', matchers } }],
    defaultRule: DEFINITION.defaultRule,
  });
});

describe('a live definition with managed fields in it', () => {
  const ON = {
    ...{ name: 'on', description: 'On', configurations: '{ "size": 1 }' },
    ...{ keys: ['a'], segments: ['vip'] },
  };
  const { keys: _, ...UNTARGETED } = ON;
  const OFF = { name: 'off', description: 'Off' };
  const live = {
    ...liveDefinition('pay', 'staging'),
    flagSets: [{ id: 'set-1', type: 'FLAG_SET' }],
    treatments: [ON, OFF],
  };

  it.each<[string, Definition, object[]]>([
    [
      'another configuration, in the writing of the spec',
      {
        treatments: [
          { name: 'on', configuration: { size: 2 } },
          { name: 'off', configuration: { size: 1 } },
          { name: 'new', configuration: null },
        ],
      },
      [
        { ...ON, configurations: '{"size":2}' },
        { ...OFF, configurations: '{"size":1}' },
        { name: 'new', description: '', configurations: 'null' },
      ],
    ],
    ['what the spec does not say', { treatments: [{ name: 'on' }] }, [ON]],
    [
      'new treatments with the targets that are said',
      {
        treatments: [{ name: 'on' }, { name: 'new' }, { name: 'newer' }],
        targets: { new: ['b'], newer: [] },
      },
      [
        UNTARGETED,
        { name: 'new', description: '', keys: ['b'] },
        { name: 'newer', description: '' },
      ],
    ],
    ['no targets where none are said', { targets: {} }, [UNTARGETED, OFF]],
    ['other targets, as many', { targets: { on: ['b'] } }, [{ ...ON, keys: ['b'] }, OFF]],
    ['the first targets', { targets: { on: ['a'], off: ['b'] } }, [ON, { ...OFF, keys: ['b'] }]],
    [
      'what nobody here knows of a treatment that moves and changes',
      { treatments: [{ name: 'off' }, { name: 'on', description: 'New' }] },
      [OFF, { ...ON, description: 'New' }],
    ],
  ])('has %s', (_situation, desired, treatments) => {
    expect(withFields(live, desired)).toStrictEqual({ ...live, treatments });
  });

  it('is the live one where the fields are what is live, whatever spelling they have there', () => {
    const keys = ['b', 'a'];
    const spelt = { ...live, treatments: live.treatments.map((each) => ({ ...each, keys })) };

    const target = withFields(spelt, {
      treatments: [{ name: 'on', configuration: { size: 1 } }, { name: 'off' }],
      targets: { on: ['a', 'b'], off: ['a', 'b'] },
    });

    expect(target).toStrictEqual(spelt);
  });

  it('keeps a rule that stays as it is when another rule comes', () => {
    const matchers = (string: string) => [{ type: 'IN_SEGMENT', string }];
    const buckets = [{ treatment: 'on', size: 100 }];
    const condition = { combiner: 'AND', matchers: matchers('vip'), note: 'theirs' };
    const rule = { buckets, condition };

    const target = withFields(
      { ...live, rules: [rule] },
      {
        rules: [
          { matchers: matchers('staff'), buckets },
          { matchers: matchers('vip'), buckets },
        ],
      },
    );

    expect(target.rules[1]).toBe(rule);
  });
});

it('gives a treatment that is called like a member of every object no keys that it does not have', () => {
  const names = ['constructor', 'toString', '__proto__', 'valueOf'];
  const treatments = names.map((name) => ({ name, description: '' }));
  const targets = { valueOf: ['a'] };

  const body = definitionBody({ ...DEFINITION, treatments, targets });

  expect(body.treatments.map(({ keys }) => keys)).toEqual([undefined, undefined, undefined, ['a']]);
  const live = { ...liveDefinition('pay', 'staging'), treatments: body.treatments };
  expect(withFields(live, { treatments, targets }).treatments).toEqual(body.treatments);
});
