import { describe, expect, it } from 'vitest';
import type { RuleSpec } from '../../../../src/generated/flag.schema.d.js';
import {
  definitionOf,
  rulesOf,
  targetsOf,
  treatmentsOf,
  type SpecifiedDefinition,
} from '../../../../src/model/flag/from-spec.js';
import type { Checked } from '../../../../src/model/diagnostic.js';

const TREATMENTS = ['on', 'off'];

function faultLines(checked: Checked<unknown>): string[] {
  const faults = checked.ok ? [] : checked.faults;
  return faults.map(({ code, at, path }) => `${code} at ${at} of ${path.join('/')}`);
}

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
  it('are sets, and a treatment without keys has none', () => {
    const checked = targetsOf({ on: ['b', 'a', 'b'], off: [] }, TREATMENTS);

    expect(checked).toEqual({ ok: true, value: { on: ['a', 'b'] } });
  });

  it('stand in one order, whatever order the file has', () => {
    const checked = targetsOf({ on: ['a'], off: ['b'] }, TREATMENTS);

    expect(JSON.stringify(checked)).toBe('{"ok":true,"value":{"off":["b"],"on":["a"]}}');
  });

  it('are refused for a treatment that the flag does not have', () => {
    const checked = targetsOf({ onn: ['a'] }, TREATMENTS);

    expect(faultLines(checked)).toEqual(['unknown-treatment at key of onn']);
    expect(checked).toMatchObject({ faults: [{ unknown: { candidates: TREATMENTS } }] });
  });

  it('are refused where a key is a target of two treatments', () => {
    const checked = targetsOf({ on: ['a', 'b'], off: ['c', 'a'] }, TREATMENTS);

    expect(faultLines(checked)).toEqual(['target-twice at value of on/0']);
    expect(checked).toMatchObject({
      faults: [{ message: 'key "a" is a target of "off" already' }],
    });
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

  it.each<[string, RuleSpec[], string[]]>([
    [
      'the place of a condition that stands alone',
      [
        { if: { segment: 'a' }, serve: 'on' },
        { if: { flag: 'b' }, serve: 'on' },
      ],
      ['condition-shape at key of 1/if/flag'],
    ],
    [
      'the place of a condition in a list',
      [{ if: [{ segment: 'a' }, { flag: 'b' }], serve: 'on' }],
      ['condition-shape at key of 0/if/1/flag'],
    ],
    [
      'all that is wrong, of what is asked and of what is served',
      [{ if: { flag: 'b' }, serve: { onn: 100 } }],
      ['condition-shape at key of 0/if/flag', 'unknown-treatment at key of 0/serve/onn'],
    ],
  ])('tell %s', (_, spec, faults) => {
    expect(faultLines(rulesOf(spec, TREATMENTS))).toEqual(faults);
  });
});

describe('a definition', () => {
  const specified: SpecifiedDefinition = {
    treatments: [{ name: 'on' }, { name: 'off' }],
    targets: { on: ['a'] },
    defaultTreatment: 'off',
    trafficAllocation: 100,
    rules: [],
    defaultRule: [{ treatment: 'off', size: 100 }],
  };

  it('manages what its specs say, and is made with the default treatment as baseline, unkilled', () => {
    expect(definitionOf(specified, [])).toStrictEqual({
      fields: specified,
      creation: { ...specified, baselineTreatment: 'off', killed: false },
    });
  });

  it('is made with the baseline and the kill that its specs say', () => {
    const said = { ...specified, baselineTreatment: 'on', killed: true };

    expect(definitionOf(said, [])).toStrictEqual({ fields: said, creation: said });
  });

  it('is made with the fields that it does not manage afterwards', () => {
    const { targets, rules, ...managed } = specified;

    const { fields, creation } = definitionOf(specified, ['targets', 'rules']);

    expect(fields).toStrictEqual(managed);
    expect(creation).toMatchObject({ targets, rules });
  });
});
