import type { WireDefinition } from '../../admin-api/wire.js';

/** The seeds of a definition, which decide which keys its shares and its allocation reach. */
export interface Seeds {
  readonly seed: number;
  readonly allocationSeed: number;
}

/** Where hashing puts a key in one definition, each from 1 to 100. */
export interface Place {
  /** The place among the buckets. */
  readonly bucket: number;
  /** The key is allocated where this is at most the allocation. */
  readonly draw: number;
}

/** The seeds of a live definition; undefined where the service does not show them. */
export function seedsOf({
  seed,
  trafficAllocationSeed: allocationSeed,
}: Pick<WireDefinition, 'seed' | 'trafficAllocationSeed'>): Seeds | undefined {
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(allocationSeed)) return undefined;
  return { seed: Number(seed), allocationSeed: Number(allocationSeed) };
}

export function placeOf(key: string, { seed, allocationSeed }: Seeds): Place {
  return {
    bucket: bucketOf(key, seed),
    // Few definitions ask for it.
    get draw(): number {
      return bucketOf(key, allocationSeed);
    },
  };
}

/**
 * The place, from 1 to 100, that hashing gives a key: MurmurHash3 (x86, 32 bits) of its bytes in UTF-8, modulo 100. The
 * vendor's SDKs compute the same, so a definition's seed decides which keys a share reaches.
 */
export function bucketOf(key: string, seed: number): number {
  return (murmur(Buffer.from(key, 'utf8'), seed) % 100) + 1;
}

/** @returns an unsigned integer of 32 bits. */
function murmur(bytes: Buffer, seed: number): number {
  const tail = bytes.length - (bytes.length % 4);
  let hash = seed | 0;
  for (let at = 0; at < tail; at += 4) {
    hash = rotated(hash ^ mixed(bytes.readInt32LE(at)), 13);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = bytes.length - 1; at >= tail; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0);
  hash ^= mixed(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(word: number): number {
  return Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
