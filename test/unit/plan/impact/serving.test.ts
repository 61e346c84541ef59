import { describe, expect, it } from 'vitest';
import {
  bucketOf,
  bucketServing,
  seedsOf,
  servedAt,
  type Served,
} from '../../../../src/plan/impact/serving.js';
import { onOff } from '../../../support/on-off.js';

function served(treatment: string): Served {
  return { treatment, configuration: '' };
}

const [ON, OFF, LEFT_OUT] = [served('on'), served('off'), served('left-out')];

/** The first places get `on`, the others `off`; keys beyond the allocation are left out. */
function serving(on: number, allocation = 100) {
  const servedBy = (name: string): Served => (name === 'on' ? ON : OFF);
  return bucketServing(onOff(on), servedBy, { allocation, unallocated: LEFT_OUT });
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
