import { describe, expect, it } from 'vitest';
import {
  bucketOf,
  bucketServing,
  constantServing,
  isMove,
  pairKey,
  pairOf,
  placeOf,
  seedsOf,
  servedAt,
  sharesOf,
  type Served,
  type Serving,
} from '../../../../src/plan/impact/serving.js';

function served(treatment: string): Served {
  return { treatment, configuration: '' };
}

const [ON, OFF, LEFT_OUT] = [served('on'), served('off'), served('left-out')];

/** The first places get `on`, the others `off`; keys beyond the allocation are left out. */
function serving(on: number, allocation = 100): Serving {
  const buckets = [
    { treatment: 'on', size: on },
    { treatment: 'off', size: 100 - on },
  ];
  const servedBy = (name: string): Served => (name === 'on' ? ON : OFF);
  return bucketServing(buckets, servedBy, { allocation, unallocated: LEFT_OUT });
}

describe('the place of a key', () => {
  // Published results of MurmurHash3 (x86, 32 bits).
  it.each<[string, number, number]>([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['a', 0x9747b28c, 0x7fa09ea6],
    ['ab', 0x9747b28c, 0x74875592],
    ['abc', 0x9747b28c, 0xc84a62dd],
    ['abcd', 0x9747b28c, 0xf0478627],
    ['test', 0, 0xba6bd213],
    ['Hello, world!', 0, 0xc0363e43],
    ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
    ['ππππππππ', 0x9747b28c, 0xd58063c1],
  ])('"%s" by seed %d is that of the published hash', (key, seed, hash) => {
    expect(bucketOf(key, seed)).toBe((hash % 100) + 1);
  });

  it('has a bucket by the one seed and a draw by the other', () => {
    const { bucket, draw } = placeOf('ana', { seed: 7, allocationSeed: 8 });

    expect([bucket, draw]).toEqual([bucketOf('ana', 7), bucketOf('ana', 8)]);
    expect(bucket).not.toBe(draw);
  });

  it.each([
    ['both seeds', { seed: 3, trafficAllocationSeed: 4 }, { seed: 3, allocationSeed: 4 }],
    ['no seed', { trafficAllocationSeed: 4 }, undefined],
    ['no seed of the allocation', { seed: 3 }, undefined],
  ])('is known where the service shows %s', (_shown, live, seeds) => {
    expect(seedsOf(live)).toEqual(seeds);
  });
});

describe('the treatment at a place', () => {
  it.each<[string, number, number, Served]>([
    ['the last place of a bucket', 10, 1, ON],
    ['the first place of the next bucket', 11, 1, OFF],
    ['the last place', 100, 1, OFF],
    ['the last draw of the allocation', 1, 20, ON],
    ['the first draw beyond it', 1, 21, LEFT_OUT],
  ])('at %s', (_place, bucket, draw, expected) => {
    expect(servedAt(serving(10, 20), { bucket, draw })).toBe(expected);
  });

  it('asks for no draw where all keys are allocated', () => {
    const place = {
      bucket: 1,
      get draw(): number {
        throw new Error('a draw costs a hash');
      },
    };

    expect(servedAt(serving(10), place)).toBe(ON);
  });

  it('is control where the buckets leave the place free', () => {
    const half = bucketServing([{ treatment: 'on', size: 50 }], () => ON, {
      allocation: 100,
      unallocated: OFF,
    });

    expect([50, 51].map((bucket) => servedAt(half, { bucket, draw: 1 }))).toEqual([ON, null]);
    expect(half.places).toHaveLength(100);
  });
});

describe('the shares of the moves between two results', () => {
  it.each<[string, Serving, Serving, Record<string, number>]>([
    [
      'that are the same',
      serving(30, 60),
      serving(30, 60),
      { 'on → on': 1_800, 'off → off': 4_200, 'left-out → left-out': 4_000 },
    ],
    [
      'of an allocation that grows',
      serving(30, 20),
      serving(30, 50),
      {
        'on → on': 600,
        'off → off': 1_400,
        'left-out → on': 900,
        'left-out → off': 2_100,
        'left-out → left-out': 5_000,
      },
    ],
    [
      'of an allocation that shrinks',
      serving(30, 50),
      serving(30, 20),
      {
        'on → on': 600,
        'off → off': 1_400,
        'on → left-out': 900,
        'off → left-out': 2_100,
        'left-out → left-out': 5_000,
      },
    ],
    ['that are constant', constantServing(OFF), constantServing(null), { 'off → control': 10_000 }],
  ])('%s', (_situation, before, after, expected) => {
    const shares = [...sharesOf(before, after)].map(([key, parts]) => {
      const { from, to } = pairOf(key);
      return [`${from?.treatment ?? 'control'} → ${to?.treatment ?? 'control'}`, parts];
    });

    expect(Object.fromEntries(shares)).toEqual(expected);
  });

  it('count treatments of the same name and configuration together', () => {
    const [one, other] = [constantServing(served('on')), serving(100)];
    const halves = { ...one, places: [...one.places.slice(50), ...other.places.slice(50)] };

    expect([...sharesOf(halves, halves)]).toEqual([[pairKey({ from: ON, to: ON }), 10_000]]);
  });
});

describe('a move', () => {
  const limited = { treatment: 'on', configuration: 'limited' };

  it.each<[string, Served, Served, boolean]>([
    ['to another treatment', ON, OFF, true],
    ['to another configuration', ON, limited, true],
    ['to control', ON, null, true],
    ['from control', null, ON, true],
    ['to the same', ON, served('on'), false],
    ['from control to control', null, null, false],
  ])('%s', (_situation, from, to, expected) => {
    expect(isMove({ from, to })).toBe(expected);
    expect(pairOf(pairKey({ from, to }))).toEqual({ from, to });
  });
});
