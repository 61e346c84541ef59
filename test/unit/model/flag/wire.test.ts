import { flagFieldsFromWire } from '../../../../src/model/flag/fields.js';
import { describe, expect, it } from 'vitest';
import {
  canonicalDefinition,
  definitionBody,
  definitionFromWire,
  withFields,
} from '../../../../src/model/flag/wire.js';
import { canonicalMatcher } from '../../../../src/model/matcher/canonical.js';
import { DEFINITION, liveDefinition } from '../../../support/builders.js';

describe('canonical form of an answer', () => {
  it('is the same whatever order its sets are in, with nulls and without, with further fields and without', () => {
    const plain = liveDefinition('pay', 'staging', {
      targets: { on: ['a', 'b'] },
      rules: [
        {
          matchers: [{ type: 'IN_LIST_STRING', attribute: 'country', strings: ['DE', 'ES'] }],
          buckets: [{ treatment: 'on', size: 100 }],
        },
      ],
    });
    const noisy = {
      ...plain,
      lastTrafficReceivedAt: 1,
      treatments: [
        { name: 'on', description: null, keys: ['b', 'a', 'b'], segments: [] },
        { name: 'off', description: '', keys: [] },
      ],
      rules: [
        {
          buckets: [
            { treatment: 'on', size: 100 },
            { treatment: 'off', size: 0 },
          ],
          condition: {
            combiner: 'AND',
            matchers: [
              {
                strings: ['ES', 'DE', 'ES'],
                attribute: 'country',
                type: 'IN_LIST_STRING',
                negate: false,
                string: null,
              },
            ],
          },
        },
      ],
    };

    expect(definitionFromWire(noisy)).toStrictEqual(definitionFromWire(plain));
    expect(definitionFromWire(noisy).targets).toStrictEqual({ on: ['a', 'b'] });
  });

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

  it('takes numbers in either spelling, but leaves versions alone', () => {
    expect(canonicalMatcher({ type: 'BETWEEN_NUMBER', between: { from: '1', to: 5 } })).toEqual({
      type: 'BETWEEN_NUMBER',
      between: { from: 1, to: 5 },
    });
    expect(
      canonicalMatcher({ type: 'BETWEEN_SEMVER', between: { from: '1.10', to: '2.0' } }),
    ).toEqual({
      type: 'BETWEEN_SEMVER',
      between: { from: '1.10', to: '2.0' },
    });
  });

  it('reads a dependency on one treatment and on several alike', () => {
    const one = canonicalMatcher({
      type: 'IN_SPLIT',
      depends: { splitName: 'a', treatment: 'on' },
    });

    expect(one).toEqual({ type: 'IN_SPLIT', depends: { splitName: 'a', treatments: ['on'] } });
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

  it('reads absent tags and descriptions as none', () => {
    const flag = {
      id: 'i',
      name: 'pay',
      description: null,
      trafficType: { id: 't', name: 'user' },
      creationTime: 1,
      rolloutStatus: null,
      rolloutStatusTimestamp: null,
      tags: null,
    };

    expect(flagFieldsFromWire(flag)).toEqual({ description: '', tags: [], rolloutStatus: '' });
    expect(
      flagFieldsFromWire({
        ...flag,
        description: 'Payments',
        tags: [{ name: 'web' }, { name: 'app' }],
        rolloutStatus: { id: 'r', name: 'Ramping' },
      }),
    ).toEqual({ description: 'Payments', tags: ['app', 'web'], rolloutStatus: 'Ramping' });
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

describe('the body that creates a definition', () => {
  it('carries targets and configurations in the treatments, and empty descriptions where none are said', () => {
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
});

describe('a live definition with managed fields in it', () => {
  const live = {
    ...liveDefinition('pay', 'staging', { targets: { on: ['a'] } }),
    flagSets: [{ id: 'set-1', type: 'FLAG_SET' }],
    treatments: [
      {
        name: 'on',
        description: 'On',
        configurations: '{ "size": 1 }',
        keys: ['a'],
        segments: ['vip'],
      },
      { name: 'off', description: 'Off' },
    ],
  };

  it('is the live one where the fields are what is live, whatever spelling they have there', () => {
    const keys = ['b', 'a'];
    const spelt = { ...live, treatments: live.treatments.map((each) => ({ ...each, keys })) };

    const target = withFields(spelt, {
      treatments: [{ name: 'on', configuration: { size: 1 } }, { name: 'off' }],
      targets: { on: ['a', 'b'], off: ['a', 'b'] },
    });

    expect(target).toStrictEqual(spelt);
  });

  it('has another configuration in the writing of the spec, also where there was none', () => {
    const target = withFields(live, {
      treatments: [
        { name: 'on', configuration: { size: 2 } },
        { name: 'off', configuration: { size: 1 } },
        { name: 'new', configuration: null },
      ],
    });

    expect(target.treatments.map(({ configurations }) => configurations)).toEqual([
      '{"size":2}',
      '{"size":1}',
      'null',
    ]);
  });

  it('keeps configurations that the spec does not say', () => {
    const [on] = withFields(live, { treatments: [{ name: 'on' }] }).treatments;

    expect(on?.configurations).toBe('{ "size": 1 }');
  });

  it('has a new treatment with an empty description, and with the targets that are said', () => {
    const target = withFields(live, {
      treatments: [{ name: 'on' }, { name: 'new' }, { name: 'newer' }],
      targets: { new: ['b'], newer: [] },
    });

    expect(target.treatments.slice(1)).toStrictEqual([
      { name: 'new', description: '', keys: ['b'] },
      { name: 'newer', description: '' },
    ]);
  });

  it('has no targets left where none are said, and those of before where they are not managed', () => {
    const [without] = withFields(live, { targets: {} }).treatments;
    const [untouched] = withFields(live, { treatments: [{ name: 'on' }] }).treatments;

    expect(without).not.toHaveProperty('keys');
    expect(untouched?.keys).toEqual(['a']);
  });

  it('has the targets of the spec where they are others, and as many', () => {
    const [on] = withFields(live, { targets: { on: ['b'] } }).treatments;

    expect(on?.keys).toEqual(['b']);
  });

  it('has targets where there were none', () => {
    const [, off] = withFields(live, { targets: { off: ['b'] } }).treatments;

    expect(off?.keys).toEqual(['b']);
  });

  it('keeps what it does not know about a treatment that it replaces', () => {
    const target = withFields(live, {
      treatments: [{ name: 'off' }, { name: 'on', description: 'New' }],
    });

    expect(target.treatments).toEqual([
      { name: 'off', description: 'Off' },
      {
        name: 'on',
        description: 'New',
        configurations: '{ "size": 1 }',
        keys: ['a'],
        segments: ['vip'],
      },
    ]);
  });

  it('keeps unknown fields of a rule that stays when another rule comes', () => {
    const rule = {
      buckets: [{ treatment: 'on', size: 100 }],
      condition: {
        combiner: 'AND',
        matchers: [{ type: 'IN_SEGMENT', string: 'vip' }],
        note: 'theirs',
      },
    };
    const ours = {
      matchers: [{ type: 'IN_SEGMENT', string: 'staff' }],
      buckets: [{ treatment: 'on', size: 100 }],
    };
    const theirs = { matchers: [{ type: 'IN_SEGMENT', string: 'vip' }], buckets: ours.buckets };

    const target = withFields({ ...live, rules: [rule] }, { rules: [ours, theirs] });

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
