import { describe, expect, it } from 'vitest';
import type { Buckets, RuleSpec } from '../../../../src/generated/flag.schema.d.js';
import {
  bucketsOf,
  rulesOf,
  targetsOf,
  treatmentsOf,
} from '../../../../src/model/flag/from-spec.js';
import type { Checked } from '../../../../src/model/diagnostic.js';

const TREATMENTS = ['on', 'off'];

function faultTexts(checked: Checked<unknown>): string[] {
  const faults = checked.ok ? [] : checked.faults;
  return faults.map(
    ({ code, at, path, message }) => `${code} at ${at} of ${path.join('/')}: ${message}`,
  );
}

const faultLines = (checked: Checked<unknown>): string[] =>
  faultTexts(checked).map((text) => text.replace(/: .*/, ''));

it('reads treatments in their order, and leaves unsaid what the long form does not say', () => {
  expect(
    treatmentsOf([
      ['on', 'New flow'],
      ['off', { description: 'Old flow', configuration: { steps: 3 } }],
      ['beta', { configuration: null }],
      ['none', {}],
    ]),
  ).toStrictEqual([
    { name: 'on', description: 'New flow' },
    { name: 'off', description: 'Old flow', configuration: { steps: 3 } },
    { name: 'beta', configuration: null },
    { name: 'none' },
  ]);
});

describe('individual targets', () => {
  it('are sets in one order, whatever order the file has, and a treatment without keys has none', () => {
    const some = targetsOf({ on: ['b', 'a', 'b'], off: ['c'], none: [] }, [...TREATMENTS, 'none']);

    expect(JSON.stringify(some)).toBe('{"ok":true,"value":{"off":["c"],"on":["a","b"]}}');
  });

  it.each([
    ['for a treatment that the flag lacks', { onn: ['a'] }, 'unknown-treatment at key of onn'],
    [
      'where a key is a target twice',
      { on: ['a'], off: ['c', 'a'] },
      'target-twice at value of on/0',
    ],
  ])('are refused %s', (_, targets, fault) => {
    expect(faultLines(targetsOf(targets, TREATMENTS))).toEqual([fault]);
  });
});

describe('rules', () => {
  it('keep their order, and that of their conditions', () => {
    const checked = rulesOf(
      [
        { if: [{ segment: 'staff' }, { segment: 'beta' }], serve: 'on' },
        { if: { segment: 'all' }, serve: { on: 10, off: 'rest' } },
      ],
      TREATMENTS,
    );

    expect(checked).toEqual({
      ok: true,
      value: [
        {
          matchers: [
            { type: 'IN_SEGMENT', string: 'staff' },
            { type: 'IN_SEGMENT', string: 'beta' },
          ],
          buckets: [{ treatment: 'on', size: 100 }],
        },
        {
          matchers: [{ type: 'IN_SEGMENT', string: 'all' }],
          buckets: [
            { treatment: 'on', size: 10 },
            { treatment: 'off', size: 90 },
          ],
        },
      ],
    });
  });

  const inList: RuleSpec[] = [{ if: [{ segment: 'a' }, { flag: 'b' }], serve: 'on' }];

  it.each<[string, RuleSpec[], string[]]>([
    ['the place of a condition in a list', inList, ['condition-shape at key of 0/if/1/flag']],
    [
      'all that is wrong, of what is asked and of what is served',
      [{ if: { flag: 'b' }, serve: { onn: 100 } }],
      ['condition-shape at key of 0/if/flag', 'unknown-treatment at key of 0/serve/onn'],
    ],
  ])('tell %s', (_, spec, faults) => {
    expect(faultLines(rulesOf(spec, TREATMENTS))).toEqual(faults);
  });
});

const sums = (sum: string): string => `bucket-sum at value of : the sizes sum to ${sum}`;
const NOT_100 = ', not to 100 (one of them may be "rest")';
const TOO_MANY = ' before "rest"; they cannot be more than 100';

it.each<[Buckets, readonly string[]]>([
  ['on', ['on 100']],
  [{ off: 'rest', on: 10 }, ['on 10', 'off 90']],
  [{ off: 0, on: 100 }, ['on 100']],
  [
    [{ off: 90 }, { on: 'rest' }],
    ['off 90', 'on 10'],
  ],
  [{ on: 100, off: 'rest' }, ['on 100']],
  ['onn', ['unknown-treatment at value of : the flag has no treatment "onn"']],
  [{ onn: 100 }, ['unknown-treatment at key of onn: the flag has no treatment "onn"']],
  [{ on: 10, off: 80 }, [sums(`90${NOT_100}`)]],
  [{ on: 101 }, [sums(`101${NOT_100}`)]],
  [{ on: 101, off: 'rest' }, [sums(`101${TOO_MANY}`)]],
  [{ on: 'rest', off: 'rest' }, ['bucket-sum at value of off: only one bucket can be "rest"']],
  [
    [{ on: 60 }, { off: 50 }, { off: 'rest' }],
    ['bucket-twice at key of 2/off: "off" has a bucket already', sums(`110${TOO_MANY}`)],
  ],
  [[{ on: 50 }, { on: 50 }], ['bucket-twice at key of 1/on: "on" has a bucket already']],
])('buckets written as %j are read, or refused', (spec, expected) => {
  const checked = bucketsOf(spec, TREATMENTS);

  const read = checked.ok ? checked.value.map(({ treatment, size }) => `${treatment} ${size}`) : [];
  expect(checked.ok ? read : faultTexts(checked)).toEqual(expected);
  if (spec === 'onn') {
    expect(checked).toMatchObject({
      faults: [{ unknown: { name: 'onn', candidates: TREATMENTS } }],
    });
  }
});
