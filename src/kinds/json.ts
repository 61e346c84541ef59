import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** Any JSON value. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * RFC 8785 form: equal values give equal text, whatever order their members were written in.
 *
 * Half surrogate pairs, which that form does not have and an answer may hold, count as U+FFFD.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalText(value);
  if (text === undefined) throw new Error('bug: canonical form asked of undefined');
  return text;
}

function canonicalText(value: unknown): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return canonicalize(JSON.parse(JSON.stringify(value, wellFormed)));
  }
}

function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(LONE_SURROGATE, '\uFFFD') : value;
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Equality of JSON values; order of members does not matter, order of lists does. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalJson(a) === canonicalJson(b);
}

/** SHA-256 in lower-case hex of UTF-8 text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Order of strings by UTF-16 code units: the same on every machine, unlike `localeCompare`. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorted copy without repetitions. */
export function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort(byCodeUnits);
}

/** Whether a value that was parsed holds values within values to more than so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((each) => isDeeperThan(each, levels - 1));
}
