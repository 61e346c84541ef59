import type { Bucket } from '../../model/flag/flag.js';
import { quoted } from '../sanitize.js';
import { noBreak } from '../text/layout.js';
import { listText, NONE } from '../values.js';

/** Buckets in their order: `on 10 %, off 90 %`. */
export function bucketsText(buckets: readonly Bucket[]): string {
  if (buckets.length === 0) return NONE;
  return buckets
    .map(({ treatment, size }) => noBreak(`${quoted(treatment)} ${String(size)} %`))
    .join(', ');
}

/** The shares of a new definition: `on 10 %`; the default treatment if it serves no other. */
export function sharesText(buckets: readonly Bucket[], defaultTreatment: unknown): string {
  const served = buckets.filter(({ size }) => size > 0);
  const others = served.filter(({ treatment }) => treatment !== defaultTreatment);
  return bucketsText(others.length > 0 ? others : served);
}

/**
 * `on 10 → 25 %, off 90 → 75 %`: every treatment of either side, in the new order. A changed order is reported too,
 * because it moves users between treatments even if all sizes stay.
 */
export function bucketsChange(before: readonly Bucket[], after: readonly Bucket[]): string {
  if (repeats(before) || repeats(after) || before.length === 0 || after.length === 0) {
    return `${bucketsText(before)} → ${bucketsText(after)}`;
  }
  const held = sizes(before);
  const wanted = sizes(after);
  const names = [...new Set([...wanted.keys(), ...held.keys()])];
  const parts = names.map((name) => sizeChange(name, held.get(name), wanted.get(name)));
  return [...parts, ...orderChange([...held.keys()], [...wanted.keys()])].join(', ');
}

/** The change of one treatment's share, in per cent; undefined for a side without a bucket of it. */
export interface ShareChange {
  readonly treatment: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** A headline shows this many shares. */
const SHOWN_SHARES = 3;

/**
 * `on 10 → 25 %`: the shares that change. If two shares mirror each other, only the first is named. Empty if the sizes
 * by treatment would not describe the change.
 */
export function sharesChange(before: readonly Bucket[], after: readonly Bucket[]): string {
  const changed = changedShares(before, after);
  const parts = changed
    .slice(0, SHOWN_SHARES)
    .map((share) => sizeChange(share.treatment, share.before, share.after));
  return [...parts, ...(changed.length > SHOWN_SHARES ? ['…'] : [])].join(', ');
}

/**
 * The shares that change, in the new order. If two shares mirror each other, only the first is included. Empty if the
 * sizes by treatment would not describe the change.
 */
export function changedShares(
  before: readonly Bucket[],
  after: readonly Bucket[],
): readonly ShareChange[] {
  if (repeats(before) || repeats(after)) return [];
  const [held, wanted] = [sizes(before), sizes(after)];
  const changed = [...new Set([...wanted.keys(), ...held.keys()])]
    .map((treatment) => ({ treatment, before: held.get(treatment), after: wanted.get(treatment) }))
    .filter((share) => share.before !== share.after);
  return changed.length === 2 ? changed.slice(0, 1) : changed;
}

/** A sentence if treatments of both sides changed their order; otherwise empty. */
export function orderChange(before: readonly string[], after: readonly string[]): string[] {
  const common = before.filter((name) => after.includes(name));
  const now = after.filter((name) => before.includes(name));
  if (common.every((name, index) => name === now[index])) return [];
  return [`bucket order ${listText(common)} → ${listText(now)} (moves users)`];
}

/** @param before undefined if there is no bucket on that side, which differs from a bucket of size 0. */
function sizeChange(name: string, before: number | undefined, after: number | undefined): string {
  const label = quoted(name);
  if (before === after) return noBreak(`${label} ${String(after)} %`);
  // A bucket of size 0 differs from no bucket.
  const from = before ?? (after === 0 ? NONE : 0);
  const to = after ?? (before === 0 ? NONE : 0);
  return noBreak(`${label} ${String(from)} → ${String(to)} %`);
}

function sizes(buckets: readonly Bucket[]): Map<string, number> {
  return new Map(buckets.map(({ treatment, size }) => [treatment, size]));
}

/** Whether a treatment has several buckets, so that sizes by treatment would lose information. */
function repeats(buckets: readonly Bucket[]): boolean {
  return sizes(buckets).size < buckets.length;
}
