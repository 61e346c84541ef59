import { describe, expect, it } from 'vitest';
import { patchOperations } from '../../../src/kinds/flag-patch.js';
import {
  definitionFromWire,
  flagFieldsFromWire,
  withFields,
} from '../../../src/kinds/flag-wire.js';
import { canonicalMatcher } from '../../../src/kinds/matcher.js';
import { liveDefinition } from '../../support/builders.js';

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

    expect(definitionFromWire(noisy)).toEqual(definitionFromWire(plain));
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
  });
});

describe('a patch', () => {
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

  it('is empty where the desired fields are what is live', () => {
    const target = withFields(live, {
      treatments: [{ name: 'on', configuration: { size: 1 } }, { name: 'off' }],
      targets: { on: ['a'] },
    });

    expect(patchOperations(live, target)).toEqual([]);
  });

  it('keeps what it does not know about a treatment that it replaces', () => {
    const target = withFields(live, {
      treatments: [{ name: 'off' }, { name: 'on', description: 'New' }],
    });

    expect(patchOperations(live, target)).toEqual([
      {
        op: 'replace',
        path: '/treatments',
        value: [
          { name: 'off', description: 'Off' },
          {
            name: 'on',
            description: 'New',
            configurations: '{ "size": 1 }',
            keys: ['a'],
            segments: ['vip'],
          },
        ],
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

  it('never names a position inside rules or buckets', () => {
    const target = withFields(live, {
      trafficAllocation: 50,
      defaultRule: [
        { treatment: 'on', size: 1 },
        { treatment: 'off', size: 99 },
      ],
    });

    expect(patchOperations(live, target).map(({ op, path }) => `${op} ${path}`)).toEqual([
      'replace /defaultRule',
      'replace /trafficAllocation',
    ]);
  });
});
