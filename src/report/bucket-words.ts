import type { Bucket } from '../kinds/flag.js';
import { quoted } from './clean.js';
import { glue } from './layout.js';
import { listWords, NONE } from './value-words.js';

/** `on 10 %, off 90 %`. */
export function bucketsWords(buckets: readonly Bucket[]): string {
  if (buckets.length === 0) return NONE;
  return buckets
    .map(({ treatment, size }) => glue(`${quoted(treatment)} ${String(size)} %`))
    .join(', ');
}

/**
 * `on 10 → 25 %, off 90 → 75 %`: every treatment of either side, in the new order. An order that changed is said, since
 * it moves users between treatments even where all sizes stay.
 */
export function bucketsChange(before: readonly Bucket[], after: readonly Bucket[]): string {
  if (repeats(before) || repeats(after) || before.length === 0 || after.length === 0) {
    return `${bucketsWords(before)} → ${bucketsWords(after)}`;
  }
  const held = sizes(before);
  const wanted = sizes(after);
  const names = [...new Set([...wanted.keys(), ...held.keys()])];
  const parts = names.map((name) => sizeChange(name, held.get(name), wanted.get(name)));
  return [...parts, ...orderChange([...held.keys()], [...wanted.keys()])].join(', ');
}

/** What a changed order of treatments means, where those on both sides changed theirs. */
export function orderChange(before: readonly string[], after: readonly string[]): string[] {
  const common = before.filter((name) => after.includes(name));
  const now = after.filter((name) => before.includes(name));
  if (common.every((name, index) => name === now[index])) return [];
  return [`bucket order ${listWords(common)} → ${listWords(now)} (moves users)`];
}

function sizeChange(name: string, before: number | undefined, after: number | undefined): string {
  const label = quoted(name);
  if (before === after) return glue(`${label} ${String(after)} %`);
  // A bucket of size 0 is another thing than no bucket.
  const from = before ?? (after === 0 ? NONE : 0);
  const to = after ?? (before === 0 ? NONE : 0);
  return glue(`${label} ${String(from)} → ${String(to)} %`);
}

function sizes(buckets: readonly Bucket[]): Map<string, number> {
  return new Map(buckets.map(({ treatment, size }) => [treatment, size]));
}

function repeats(buckets: readonly Bucket[]): boolean {
  return sizes(buckets).size < buckets.length;
}
