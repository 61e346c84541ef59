import { MAX_KEYS_PER_REQUEST } from '../admin-api/wire.js';
import { byCodeUnits, sha256, sortedSet } from './json.js';

export interface KeyList {
  /** Sorted, unique. */
  readonly keys: readonly string[];
  readonly digest: KeyDigest;
}

/** Count and SHA-256 (lower-case hex) of the sorted keys, each ended by a line feed. */
export interface KeyDigest {
  readonly count: number;
  readonly sha256: string;
}

export function keyList(keys: Iterable<string>): KeyList {
  const sorted = sortedSet(keys);
  return {
    keys: sorted,
    digest: { count: sorted.length, sha256: sha256(sorted.map((key) => `${key}\n`).join('')) },
  };
}

export const NO_KEYS: KeyList = keyList([]);

export function sameKeys(a: KeyDigest, b: KeyDigest): boolean {
  return a.count === b.count && a.sha256 === b.sha256;
}

/** What makes `actual` `desired`; all of it sorted. */
export function keyDifference(
  desired: readonly string[],
  actual: readonly string[],
): { added: string[]; removed: string[] } {
  const added: string[] = [];
  const removed: string[] = [];
  let d = 0;
  let a = 0;
  while (d < desired.length || a < actual.length) {
    const wanted = desired[d];
    const held = actual[a];
    const order = wanted === undefined ? 1 : held === undefined ? -1 : byCodeUnits(wanted, held);
    if (order < 0) added.push(wanted ?? '');
    if (order > 0) removed.push(held ?? '');
    if (order <= 0) d += 1;
    if (order >= 0) a += 1;
  }
  return { added, removed };
}

/** As many as one request takes. */
export function chunks(keys: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(keys.length / MAX_KEYS_PER_REQUEST);
  return Array.from({ length: count }, (_, index) =>
    keys.slice(index * MAX_KEYS_PER_REQUEST, (index + 1) * MAX_KEYS_PER_REQUEST),
  );
}
