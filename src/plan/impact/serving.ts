import type { WireDefinition } from '../../admin-api/wire.js';
import type { Bucket } from '../../model/flag/flag.js';

/** The result for keys that end at one point of a definition: at a rule, a target, the default rule. */
export interface Serving {
  /** The treatment at each of the 100 places that hashing can give a key. */
  readonly places: readonly Served[];
  /** Per cent of the keys, by a second and independent hash, that get the treatment in `places`. */
  readonly allocation: number;
  readonly unallocated: Served;
}

/** The treatment of a key; null without a definition, for which evaluators answer `control`. */
export type Served = ServedTreatment | null;

export interface ServedTreatment {
  readonly treatment: string;
  /** Equal texts stand for equal configurations; empty without one. */
  readonly configuration: string;
}

/** The treatments of a key before and after. */
export interface Pair {
  readonly from: Served;
  readonly to: Served;
}

/** Keys with this pair, in parts of `WHOLE`. */
export interface Share extends Pair {
  readonly parts: number;
}

/** All keys: 100 places times 100 per cent of allocation. */
export const WHOLE = 10_000;
const PLACES = 100;

/** Whether a key gets another treatment, or the same with another configuration. */
export function isMove({ from, to }: Pair): boolean {
  return from?.treatment !== to?.treatment || from?.configuration !== to?.configuration;
}

export function servedAt({ places, allocation, unallocated }: Serving, at: Place): Served {
  const isLeftOut = allocation < 100 && at.draw > allocation;
  return isLeftOut ? unallocated : (places[at.bucket - 1] ?? null);
}

export function constantServing(served: Served): Serving {
  const places = Array.from({ length: PLACES }, () => served);
  return { places, allocation: 100, unallocated: served };
}

/** Lays buckets end to end over the places, in their order, as the service does. */
export function bucketServing(
  buckets: readonly Bucket[],
  servedBy: (treatment: string) => Served,
  { allocation, unallocated }: Pick<Serving, 'allocation' | 'unallocated'>,
): Serving {
  const laid = buckets.flatMap(({ treatment, size }) => {
    const served = servedBy(treatment);
    return Array.from({ length: size }, () => served);
  });
  const places = Array.from({ length: PLACES }, (_, place) => laid[place] ?? null);
  return { places, allocation, unallocated };
}

/** Exact without knowing the keys: each keeps its place and its draw when the definition is patched. */
export function sharesOf(before: Serving, after: Serving): Share[] {
  const found = new Map<Served, Map<Served, number>>();
  const add = (from: Served, to: Served, parts: number): void => {
    if (parts === 0) return;
    const goals = found.get(from) ?? new Map<Served, number>();
    found.set(from, goals.set(to, (goals.get(to) ?? 0) + parts));
  };
  const low = Math.min(before.allocation, after.allocation);
  const high = Math.max(before.allocation, after.allocation);
  const grows = after.allocation > before.allocation;
  for (let place = 0; place < PLACES; place += 1) {
    const from = before.places[place] ?? null;
    const to = after.places[place] ?? null;
    add(from, to, low);
    if (grows) add(before.unallocated, to, high - low);
    else add(from, after.unallocated, high - low);
  }
  add(before.unallocated, after.unallocated, (100 - high) * PLACES);
  return [...found].flatMap(([from, goals]) =>
    [...goals].map(([to, parts]) => ({ from, to, parts })),
  );
}

export interface Seeds {
  readonly seed: number;
  readonly allocationSeed: number;
}

/** Where hashing puts a key in one definition, each from 1 to 100. */
export interface Place {
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

/** From 1 to 100, as the vendor's SDKs compute it: MurmurHash3 (x86, 32 bits) of the key's bytes in UTF-8, modulo 100. */
export function bucketOf(key: string, seed: number): number {
  return (murmur(Buffer.from(key, 'utf8'), seed) % 100) + 1;
}

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
