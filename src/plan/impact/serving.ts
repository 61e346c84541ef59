import type { Bucket } from '../../kinds/flag.js';

/** What becomes of the keys that end at one point of a definition: at a rule, a target, the default rule. */
export interface Serving {
  /** The treatment of each of the 100 places that hashing can give a key; null: `control`. */
  readonly places: readonly Served[];
  /** Per cent of the keys, by a second and independent hash, that get what `places` say. */
  readonly allocation: number;
  /** What the others get. */
  readonly unallocated: Served;
}

/** A treatment; null: there is none, and whoever asks is answered `control`. */
export type Served = string | null;

export interface Pair {
  readonly from: Served;
  readonly to: Served;
}

/** Parts of 10,000 of the keys by what they get before and after, by `pairKey`. */
export type Shares = ReadonlyMap<string, number>;

/** All keys, in the unit of `Shares`: 100 places times 100 per cent of allocation. */
export const WHOLE = 10_000;
const PLACES = 100;

export function pairKey({ from, to }: Pair): string {
  return JSON.stringify([from, to]);
}

export function pairOf(key: string): Pair {
  const [from, to] = JSON.parse(key) as [Served, Served];
  return { from, to };
}

export function isMove({ from, to }: Pair): boolean {
  return from !== to;
}

export function constantServing(treatment: Served): Serving {
  const places = Array.from({ length: PLACES }, () => treatment);
  return { places, allocation: 100, unallocated: treatment };
}

/** Buckets are laid end to end over the places, in their order: that is how the service splits traffic. */
export function bucketServing(
  buckets: readonly Bucket[],
  { allocation, unallocated }: Pick<Serving, 'allocation' | 'unallocated'>,
): Serving {
  const laid = buckets.flatMap(({ treatment, size }) =>
    Array.from({ length: size }, () => treatment),
  );
  const places = Array.from({ length: PLACES }, (_, place) => laid[place] ?? null);
  return { places, allocation, unallocated };
}

/**
 * Who moves from where to where. A key keeps its place and its draw of the allocation when the definition is patched, so
 * the shares are exact without knowing who is where.
 */
export function sharesOf(before: Serving, after: Serving): Shares {
  const shares = new Map<string, number>();
  const add = (from: Served, to: Served, parts: number): void => {
    if (parts === 0) return;
    const key = pairKey({ from, to });
    shares.set(key, (shares.get(key) ?? 0) + parts);
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
  return shares;
}
