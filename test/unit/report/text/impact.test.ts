import { describe, expect, it } from 'vitest';
import type { FlagImpact, Impact, Move } from '../../../../src/model/impact.js';
import { planText } from '../../../../src/report/text/plan.js';
import { aChange, aReport } from '../../../support/plan-builder.js';

const NONE = { atLeast: 0, atMost: 0 };
const CERTAIN = { ...NONE, certain: true };

function aMove(from: string | null, to: string | null, members: Partial<Move> = {}): Move {
  return { from, to, traffic: NONE, keys: CERTAIN, names: [], ...members };
}

function exactly(figure: number): { atLeast: number; atMost: number } {
  return { atLeast: figure, atMost: figure };
}

function aFlagImpact(flag: string, moves: Move[], members: Partial<FlagImpact> = {}): FlagImpact {
  const environment = 'production';
  const [traffic, keys] = [NONE, CERTAIN];
  return { flag, environment, traffic, keys, listed: 0, moves, bounded: false, ...members };
}

/** The lines about whom a change reaches. */
function linesOf(impact: Partial<Impact>, id = 'flag/shop@production', showKeys = false): string[] {
  const change = aChange(id, 'update');
  const impacts = new Map([[id, { flags: [], risks: [], ...impact }]]);
  const text = planText(aReport({ changes: [change] }, { impacts }), {
    color: false,
    width: 200,
    showKeys,
  });
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(reaches|after a restore|!!)/.test(line));
}

describe('the line about whom a change reaches', () => {
  it('tells share and direction of the traffic and number of the keys', () => {
    const moves = [
      aMove('off', 'on', { traffic: exactly(12.5), keys: { ...exactly(3), certain: true } }),
      aMove('on', 'off', { keys: { ...exactly(1), certain: true } }),
    ];

    expect(linesOf({ flags: [aFlagImpact('shop', moves)] })).toEqual([
      'reaches: 12.5 % off → on, 3 keys off → on, 1 key on → off',
    ]);
  });

  it('names a treatment once that stays and is configured anew', () => {
    const moves = [aMove('on', 'on', { traffic: exactly(100) })];

    expect(linesOf({ flags: [aFlagImpact('shop', moves)] })).toEqual([
      'reaches: 100 % on with another configuration',
    ]);
  });

  it('says how sure each figure is', () => {
    const moves = [
      aMove('off', 'on', {
        traffic: { atLeast: 0, atMost: 30 },
        keys: { ...exactly(40_000), certain: false },
      }),
      aMove('on', 'v2', {
        traffic: { atLeast: 5, atMost: 10 },
        keys: { atLeast: 1, atMost: 2, certain: false },
      }),
    ];

    expect(linesOf({ flags: [aFlagImpact('shop', moves)] })).toEqual([
      'reaches: up to 30 % off → on, about 40000 keys off → on, 5–10 % on → v2, 1–2 keys on → v2',
    ]);
  });

  it('names the flags by which the change of a segment is felt, and counts the rest', () => {
    const flags = ['a', 'b', 'c', 'd'].map((flag) =>
      aFlagImpact(flag, [aMove('off', 'on', { keys: { ...exactly(2), certain: true } })]),
    );

    expect(linesOf({ flags }, 'segment/staff@production')).toEqual([
      'reaches: a 2 keys off → on; b 2 keys off → on; c 2 keys off → on; … 1 more flag',
    ]);
  });

  it('says so where nobody is reached, and of a segment as far as that is known', () => {
    expect(linesOf({})).toEqual(['reaches: nobody']);
    expect(linesOf({}, 'segment/staff@production')).toEqual([
      'reaches: nobody, by the flags that are known here',
    ]);
  });

  it('says control where there is no definition', () => {
    const moves = [aMove('on', null, { traffic: exactly(10) })];

    expect(linesOf({ flags: [aFlagImpact('shop', moves)] })).toEqual([
      'reaches: 10 % on → control',
    ]);
  });

  it('names individual targets only when keys are to be shown', () => {
    const keys = { ...exactly(1), certain: true };
    const flags = [aFlagImpact('shop', [aMove('off', 'on', { keys, names: ['ana'] })])];

    expect(linesOf({ flags })).toEqual(['reaches: 1 key off → on']);
    expect(linesOf({ flags }, 'flag/shop@production', true)).toEqual([
      'reaches: 1 key off → on (ana)',
    ]);
  });

  it('admits that there was too much to look at', () => {
    const bounded = { traffic: { atLeast: 0, atMost: 100 }, bounded: true };

    expect(linesOf({ flags: [aFlagImpact('shop', [], bounded)] })).toEqual([
      'reaches: up to 100 % (too many combinations to tell more)',
    ]);
  });

  it('is followed by what a restore of a killed flag would serve', () => {
    const moves = [aMove('off', 'on', { traffic: exactly(50) })];
    const some = aFlagImpact('shop', moves, { traffic: exactly(50) });

    expect(linesOf({ afterRestore: some })).toEqual([
      'reaches: nobody',
      'after a restore: 50 % off → on',
    ]);
    expect(linesOf({ afterRestore: aFlagImpact('shop', []) })).toEqual([
      'reaches: nobody',
      'after a restore: nobody gets anything but the default treatment',
    ]);
  });

  it('is preceded by the risks', () => {
    const risks = ['all-of-production', 'moves-between-variants', 'serves-nobody'] as const;

    expect(linesOf({ risks })[0]).toBe(
      '!! 100 % of production; moves users between variants; serves nobody',
    );
  });

  it('prints names that others wrote as they are to be printed', () => {
    const moves = [aMove('o\u202en', 'a, b', { traffic: exactly(1) })];

    expect(linesOf({ flags: [aFlagImpact('shop', moves)] })).toEqual([
      'reaches: 1 % "o<U+202E>n" → "a, b"',
    ]);
  });
});
