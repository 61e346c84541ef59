import { MAX_KEYS_PER_REQUEST, MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import { badRequest } from '../http/problem.js';
import type { Schema } from './shape.js';

/** The longest key in UTF-16 code units. The contract shows no limit. */
export const MAX_KEY_LENGTH = 1_000;

export const KEY_SCHEMA: Schema = { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH };

/** Sorted by bytes and each once: sorting takes less time than a set. @throws Problem (400) too many, or too long. */
export function keysToAdd(given: readonly string[]): string[] {
  checkRequestSize(given.length);
  if (given.some((key) => key.length > MAX_KEY_LENGTH)) {
    throw badRequest(`Keys have at most ${MAX_KEY_LENGTH} characters`);
  }
  return eachOnce(given);
}

/**
 * Sorted by bytes and each once. Clients are known to send empty keys beside the real ones; no segment holds such
 * keys, so they are ignored. @throws Problem (400) more than 10,000.
 */
export function keysToRemove(given: readonly string[]): string[] {
  checkRequestSize(given.length);
  return eachOnce(given.filter((key) => key !== ''));
}

function eachOnce(keys: readonly string[]): string[] {
  return sortedByBytes(keys).filter((key, index, sorted) => key !== sorted[index - 1]);
}

/** In the order of both databases. */
export function sortedByBytes(keys: readonly string[]): string[] {
  const sorted = keys.toSorted();
  return hasSurrogates(keys) ? sorted.sort(compareBytes) : sorted;
}

/** Without surrogates the bytes of UTF-8 have the order of code units, which the engine compares much faster. */
function hasSurrogates(keys: readonly string[]): boolean {
  return keys.some((key) => /[\uD800-\uDFFF]/.test(key));
}

/** Compares the bytes of UTF-8 without making them: surrogates stand for characters behind all others. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [ours, theirs] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (ours !== theirs) return rankOf(ours) - rankOf(theirs);
  }
  return a.length - b.length;
}

function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

export interface ChangedKeys {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What makes one list of keys another. All lists are sorted by bytes. */
export function changedKeys(before: readonly string[], after: readonly string[]): ChangedKeys {
  const isBefore =
    hasSurrogates(before) || hasSurrogates(after)
      ? (a: string, b: string) => compareBytes(a, b) < 0
      : (a: string, b: string) => a < b;
  const removed: string[] = [];
  let at = 0;
  const added = after.filter((key) => {
    for (; at < before.length && isBefore(before[at] ?? '', key); at += 1) {
      removed.push(before[at] ?? '');
    }
    if (before[at] !== key) return true;
    at += 1;
    return false;
  });
  return { added, removed: [...removed, ...before.slice(at)] };
}

/** The limit of uploads applies to removals too. */
function checkRequestSize(count: number): void {
  if (count <= MAX_KEYS_PER_REQUEST) return;
  const limit = `the limit is ${MAX_KEYS_PER_REQUEST} keys at one time`;
  throw badRequest(`${count} keys in one request, ${limit}`);
}

/** @throws Problem (400) */
export function checkSegmentSize(count: number): void {
  if (count <= MAX_KEYS_PER_SEGMENT) return;
  const limit = `the limit is ${MAX_KEYS_PER_SEGMENT} keys per segment`;
  throw badRequest(`The segment would have ${count} keys, ${limit}`);
}

/** In any spelling that clients use: `true`, `True`, or the bare word. @throws Problem (400) it is any other word. */
export function wantsReplacement({ replace }: Readonly<Record<string, unknown>>): boolean {
  if (replace === undefined) return false;
  if (replace === '') return true;
  const word = typeof replace === 'string' ? replace.toLowerCase() : undefined;
  if (word !== 'true' && word !== 'false') throw badRequest('replace must be true or false');
  return word === 'true';
}
