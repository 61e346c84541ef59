import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../../../src/admin-api/wire.js';
import { patched, patchOperations, withFields } from '../../../../src/model/flag/wire.js';
import { inSegment, liveDefinition, onShare } from '../../../support/builders.js';

const ON = { name: 'on', description: 'On', configurations: '{ "size": 1 }' };
const OFF = { name: 'off', description: 'Off' };

function live(on: { keys?: string[] } = { keys: ['a'] }, off: { keys?: string[] } = {}) {
  const treatments = [
    { ...ON, ...on },
    { ...OFF, ...off },
  ];
  return { ...liveDefinition('pay', 'staging'), treatments };
}

describe('a patch', () => {
  it('names fields in one order, and never a position inside rules or buckets', () => {
    const target = withFields(live(), { ...onShare(1), ...inSegment('vip'), trafficAllocation: 5 });
    const backwards = Object.fromEntries(Object.entries(live()).reverse());

    const operations = [live(), backwards as unknown as WireDefinition].map((before) =>
      patchOperations(before, target).map(({ op, path }) => `${op} ${path}`),
    );

    const all = ['replace /defaultRule', 'replace /rules', 'replace /trafficAllocation'];
    expect(operations).toEqual([all, all]);
    expect(patchOperations(live(), live())).toEqual([]);
  });

  it('adds a field that the answer does not have', () => {
    const { baselineTreatment, ...before } = live();

    const operations = patchOperations(before as WireDefinition, live());

    expect(operations).toEqual([
      { op: 'add', path: '/baselineTreatment', value: baselineTreatment },
    ]);
  });
});

describe('targets that come on top', () => {
  it('are appended one by one, or as a list where the treatment has none', () => {
    const target = live({ keys: ['a', 'b', 'c'] }, { keys: ['d'] });

    expect(patchOperations(live(), target)).toEqual([
      { op: 'add', path: '/treatments/0/keys/-', value: 'b' },
      { op: 'add', path: '/treatments/0/keys/-', value: 'c' },
      { op: 'add', path: '/treatments/1/keys', value: ['d'] },
    ]);
  });

  it.each<[string, WireDefinition]>([
    ['another goes', live({ keys: ['b'] })],
    ['all others go', live({})],
    ['a treatment comes', { ...live(), treatments: [...live().treatments, { name: 'new' }] }],
    ['a treatment goes', { ...live(), treatments: live().treatments.slice(0, 1) }],
    ['a treatment has a description of its own', withDescription('New')],
  ])('replace the treatments where %s', (_, target) => {
    expect(patchOperations(live(), target)).toEqual([
      { op: 'replace', path: '/treatments', value: target.treatments },
    ]);
  });
});

it('makes of a definition what its operations say, and leaves the one that was read alone', () => {
  const before = live({ keys: ['a'] });
  const after = withFields(live({ keys: ['a', 'b'] }), onShare(5));
  const operations = patchOperations(before, after);
  const written = structuredClone(operations);

  const first = patched(before, operations);
  first.defaultRule.pop();

  expect(patched(before, operations)).toEqual(after);
  expect(before).toEqual(live({ keys: ['a'] }));
  expect(operations).toEqual(written);
});

function withDescription(description: string): WireDefinition {
  const target = live({ keys: ['a', 'b'] });
  return { ...target, treatments: target.treatments.map((each) => ({ ...each, description })) };
}
