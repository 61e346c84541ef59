import { expect, it } from 'vitest';
import type { Change } from '../../../../src/model/plan.js';
import { planView } from '../../../../src/report/view/plan-view.js';
import type { Impact } from '../../../../src/model/impact.js';
import { aChange, aField, aLiveKill, aReport, aWithheld } from '../../../support/plan-builder.js';

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

it('puts the most protected environment first, and the heaviest object', () => {
  const half = aChange('flag/half@production', 'update', {
    fields: [aField('/trafficAllocation', 50, 100)],
  });
  const whole = aChange('flag/whole@production', 'update', {
    fields: [aField('/trafficAllocation', 0, 100)],
  });
  const report = aReport(
    {
      changes: [ALIKE[0] ?? KILL, half, KILL, whole],
      withheld: ['staging', 'production'].map((place) =>
        aWithheld(`flag/x@${place}`, 'update', 'drift-reported'),
      ),
      liveKills: ['staging', 'production'].map((place) => aLiveKill(`flag/y@${place}`)),
    },
    {
      impacts: new Map([
        [half.id, shifting(50)],
        [whole.id, shifting(100)],
      ]),
    },
  );

  const { folds, withheld, liveKills } = planView(report, { showKeys: false });

  const names = folds.flatMap(({ keys }) => keys);
  expect(names).toEqual(['flag/whole', 'flag/half', 'flag/z', 'flag/f0']);
  expect(withheld.map(({ subject }) => subject)).toEqual(['flag/x@production', 'flag/x@staging']);
  expect(liveKills[0]?.subject).toBe('flag/y@production');
});

function shifting(percent: number): Impact {
  const traffic = { atLeast: percent, atMost: percent };
  const keys = { atLeast: 0, atMost: 0, certain: true };
  const place = { flag: 'any', environment: 'production', listed: 0, bounded: false };
  return { flags: [{ ...place, traffic, keys, moves: [] }], risks: ['most-of-production'] };
}

it('counts the identities of many traffic types in the headline', () => {
  const changes = Array.from({ length: 12 }, (_, at) =>
    aChange(`identities/t${String(at)}@production`, 'update'),
  );
  const { headline } = planView(aReport({ changes }), { showKeys: false });

  expect(headline.map(({ text }) => text).join('')).toMatch(/^12 identities in production/);
});
