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

/** Equality of JSON values, as their canonical forms have it; order of members does not matter, order of lists does. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') return sameText(a, b);
  if (!isContainer(a) || !isContainer(b)) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((each, i) => sameJson(each, b[i]));
  }
  return sameMembers(a as Members, b as Members);
}

type Members = Readonly<Record<string, unknown>>;

/** A member that is undefined is none. */
function sameMembers(a: Members, b: Members): boolean {
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  const others = Object.keys(b).filter((name) => b[name] !== undefined);
  return (
    names.length === others.length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Texts without half surrogate pairs, which are all but a few, need no second look. */
function sameText(a: string, b: string): boolean {
  return a.length === b.length && wellFormed('', a) === wellFormed('', b);
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
  const all = [...values];
  // Most are: they were written so, or come from here.
  if (isAscending(all)) return all;
  const sorted = all.sort(byCodeUnits);
  return isAscending(sorted) ? sorted : [...new Set(sorted)];
}

/** Sorted, and without repetitions. */
function isAscending(values: readonly string[]): boolean {
  return values.every((each, at) => at === 0 || (values[at - 1] ?? '') < each);
}

/** Whether a value that was parsed holds values within values to more than so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((each) => isDeeperThan(each, levels - 1));
}
