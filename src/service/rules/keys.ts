import { MAX_KEYS_PER_REQUEST, MAX_KEYS_PER_SEGMENT } from '../../api/wire.js';
import { badRequest } from '../problem.js';

const MAX_KEY_LENGTH = 1_000;

/** Keys of one request as a set, in the order in which they were given. */
export function keysToAdd(given: readonly string[]): string[] {
  checkRequestSize(given.length);
  for (const key of given) {
    if (key === '') throw badRequest('Keys must not be empty');
    if (key.length > MAX_KEY_LENGTH) {
      throw badRequest(`Keys have at most ${MAX_KEY_LENGTH} characters`);
    }
    if (!isStorable(key)) throw badRequest('Keys must be text that UTF-8 can write');
  }
  return [...new Set(given)];
}

/** Clients are known to send empty keys beside the real ones: they are in no segment and remove nothing. */
export function keysToRemove(given: readonly string[]): string[] {
  checkRequestSize(given.length);
  return [...new Set(given)].filter((key) => key !== '' && isStorable(key));
}

/** Halves of surrogate pairs have no bytes of their own: what is kept would be another key. */
export function isStorable(key: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(key);
}

function checkRequestSize(count: number): void {
  if (count <= MAX_KEYS_PER_REQUEST) return;
  throw badRequest(
    `${count} keys in one request, the limit is ${MAX_KEYS_PER_REQUEST} keys at one time`,
  );
}

export function checkSegmentSize(count: number): void {
  if (count <= MAX_KEYS_PER_SEGMENT) return;
  throw badRequest(
    `The segment would have ${count} keys, the limit is ${MAX_KEYS_PER_SEGMENT} keys per segment`,
  );
}

/** `replace` in any spelling that clients use: `true`, `True`, or the bare word. */
export function wantsReplacement({ replace }: Readonly<Record<string, unknown>>): boolean {
  if (replace === undefined) return false;
  if (replace === '') return true;
  const word = typeof replace === 'string' ? replace.toLowerCase() : undefined;
  if (word !== 'true' && word !== 'false') throw badRequest('replace must be true or false');
  return word === 'true';
}
