import { expect, it } from 'vitest';
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
function linesOf(impact: Partial<Impact>, id: string, showKeys: boolean): string[] {
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

const certainly = (figure: number) => ({ ...exactly(figure), certain: true });
const SHOP = 'flag/shop@production';
const STAFF = 'segment/staff@production';
const NAMED = aMove('off', 'on', { keys: certainly(1), names: ['ana'] });
const felt = (...moves: Move[]): Partial<Impact> => ({ flags: [aFlagImpact('shop', moves)] });

it.each<[string, Partial<Impact>, string[], string?, boolean?]>([
  [
    'share and direction of the traffic and number of the keys',
    felt(
      aMove('off', 'on', { traffic: exactly(12.5), keys: certainly(3) }),
      aMove('on', 'off', { keys: certainly(1) }),
    ),
    ['reaches: 12.5 % off → on, 3 keys off → on, 1 key on → off'],
  ],
  [
    'once a treatment that stays and is configured anew',
    felt(aMove('on', 'on', { traffic: exactly(100) })),
    ['reaches: 100 % on with another configuration'],
  ],
  [
    'how sure each figure is',
    felt(
      aMove('off', 'on', {
        traffic: { atLeast: 0, atMost: 30 },
        keys: { ...exactly(40_000), certain: false },
      }),
      aMove('on', 'v2', {
        traffic: { atLeast: 5, atMost: 10 },
        keys: { atLeast: 1, atMost: 2, certain: false },
      }),
    ),
    ['reaches: up to 30 % off → on, about 40000 keys off → on, 5–10 % on → v2, 1–2 keys on → v2'],
  ],
  [
    'the flags by which the change of a segment is felt, and counts the rest',
    {
      flags: ['a', 'b', 'c', 'd'].map((flag) =>
        aFlagImpact(flag, [aMove('off', 'on', { keys: certainly(2) })]),
      ),
    },
    ['reaches: a 2 keys off → on; b 2 keys off → on; c 2 keys off → on; … 1 more flag'],
    STAFF,
  ],
  ['that nobody is reached', {}, ['reaches: nobody']],
  [
    'of a segment that nobody is reached as far as that is known',
    {},
    ['reaches: nobody, by the flags that are known here'],
    STAFF,
  ],
  [
    'control where there is no definition',
    felt(aMove('on', null, { traffic: exactly(10) })),
    ['reaches: 10 % on → control'],
  ],
  ['the number of individual targets', felt(NAMED), ['reaches: 1 key off → on']],
  [
    'individual targets when keys are to be shown',
    felt(NAMED),
    ['reaches: 1 key off → on (ana)'],
    SHOP,
    true,
  ],
  [
    'that there was too much to look at',
    { flags: [aFlagImpact('shop', [], { traffic: { atLeast: 0, atMost: 100 }, bounded: true })] },
    ['reaches: up to 100 % (too many combinations to tell more)'],
  ],
  [
    'what a restore of a killed flag would serve',
    {
      afterRestore: aFlagImpact('shop', [aMove('off', 'on', { traffic: exactly(50) })], {
        traffic: exactly(50),
      }),
    },
    ['reaches: nobody', 'after a restore: 50 % off → on'],
  ],
  [
    'that a restore of a killed flag would serve nothing else',
    { afterRestore: aFlagImpact('shop', []) },
    ['reaches: nobody', 'after a restore: nobody gets anything but the default treatment'],
  ],
  [
    'the risks first',
    { risks: ['all-of-production', 'moves-between-variants', 'serves-nobody'] },
    ['!! 100 % of production; moves users between variants; serves nobody', 'reaches: nobody'],
  ],
  [
    'names that others wrote as they are to be printed',
    felt(aMove('o\u202en', 'a, b', { traffic: exactly(1) })),
    ['reaches: 1 % "o<U+202E>n" → "a, b"'],
  ],
])(
  'the line about whom a change reaches says %s',
  (_, impact, expected, id = SHOP, showKeys = false) => {
    expect(linesOf(impact, id, showKeys)).toEqual(expected);
  },
);
