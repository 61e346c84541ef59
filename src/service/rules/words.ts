import { badRequest, Problem } from '../problem.js';

/** Title and comment of a change, as far as they were given. */
export interface GivenWords {
  readonly title: string | null;
  readonly comment: string | null;
}

const MAX_LENGTH = 10_000;

/** The query comes first, then the body; empty text counts as not given. */
export function wordsFrom(query: unknown, body: unknown): GivenWords {
  return { title: wordFrom('title', query, body), comment: wordFrom('comment', query, body) };
}

function wordFrom(name: 'title' | 'comment', ...places: unknown[]): string | null {
  for (const place of places) {
    if (typeof place !== 'object' || place === null || Array.isArray(place)) continue;
    const value: unknown = Object.hasOwn(place, name)
      ? (place as Record<string, unknown>)[name]
      : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.slice(0, MAX_LENGTH);
  }
  return null;
}

/**
 * What a workspace that requires title and comment asks of one change.
 *
 * - `both`: title and comment
 * - `both-or-empty-answer`: the same, refused without a body (the contract, for PATCH of a definition)
 * - `comment`: the contract's body of `removeKeys` has no place for a title
 * - `none`: changes at the level of the workspace
 */
export type WordsNeeded = 'both' | 'both-or-empty-answer' | 'comment' | 'none';

export function checkWords(words: GivenWords, needed: WordsNeeded): void {
  if (needed === 'none') return;
  const complete = words.comment !== null && (words.title !== null || needed === 'comment');
  if (complete) return;
  if (needed === 'both-or-empty-answer') throw new Problem(400, '', { bodyless: true });
  throw badRequest('Comment/title combination invalid for workspace');
}
