import { expect, it } from 'vitest';
import type { Change } from '../../../../src/model/plan.js';
import { planView } from '../../../../src/report/view/plan-view.js';
import { aChange, aField, aReport } from '../../../support/plan-builder.js';

const ALIKE = Array.from({ length: 12 }, (_, index): Change =>
  aChange(`flag/f${String(index)}@production`, 'update', {
    fields: [aField('/trafficAllocation', 50, 100)],
  }),
);
const KILL = aChange('flag/z@production', 'update', {
  reason: 'kill',
  fields: [aField('/killed', false, true)],
});

it('folds objects to which the same happens, and puts what is risky first', () => {
  const { folds } = planView(aReport({ changes: [...ALIKE, KILL] }), { showKeys: false });

  expect(folds.map(({ keys, isUrgent }) => [keys.length, isUrgent])).toEqual([
    [1, true],
    [12, false],
  ]);
  expect(folds[1]?.rows.map(({ subject, fact }) => [subject, fact])).toEqual([
    ['production', 'traffic\u00a050\u00a0→\u00a0100\u00a0%'],
  ]);
});

it('says once where an object comes from, unless its changes come from several places', () => {
  const [first = KILL] = ALIKE;
  const here = { ...first, location: { file: 'flags/f0.yaml', line: 3, column: 1 } };
  const there = aChange('flag/f0', 'update', {
    location: { file: 'flags/f0.yaml', line: 9, column: 1 },
    fields: [aField('/description', 'a', 'b')],
  });
  const foldOf = (changes: readonly Change[]): unknown => {
    const [fold] = planView(aReport({ changes }), { showKeys: false }).folds;
    return [fold?.place, fold?.rows.map(({ origin }) => origin)];
  };

  expect(foldOf([here])).toEqual(['flags/f0.yaml:3', [[]]]);
  expect(foldOf([here, there])).toEqual(['', [['flags/f0.yaml:3'], ['flags/f0.yaml:9']]]);
});

it('lists new flags with different shares one by one, and folds those with the same', () => {
  const added = (shareOf: (at: number) => number): readonly Change[] =>
    Array.from({ length: 11 }, (_, at) =>
      aChange(`flag/f${String(at)}@production`, 'create', {
        fields: [
          aField('/defaultTreatment', undefined, 'off'),
          aField('/defaultRule', undefined, [
            { treatment: 'on', size: shareOf(at) },
            { treatment: 'off', size: 100 - shareOf(at) },
          ]),
        ],
      }),
    );
  const foldsOf = (changes: readonly Change[]): number =>
    planView(aReport({ changes }), { showKeys: false }).folds.length;

  expect(foldsOf(added((at) => 7 * (at + 1)))).toBe(11);
  expect(foldsOf(added(() => 7))).toBe(1);
});
