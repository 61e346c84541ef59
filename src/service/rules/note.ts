import { badRequest, Problem } from '../http/problem.js';
import type { Schema } from './matchers.js';

export interface GivenNote {
  readonly title: string | null;
  readonly comment: string | null;
}

/** Title and comment of a change in a body; clients may also send them in the query. */
export const WORDS_MEMBERS: Readonly<Record<string, Schema>> = {
  title: { type: ['string', 'null'] },
  comment: { type: ['string', 'null'] },
};

/** Title and comment in the query of any change. The contract names them for the PATCH of a definition. */
export const WORDS_QUERY: Readonly<Record<string, Schema>> = {
  title: { type: 'string', description: 'Title of the change, for the audit log.' },
  comment: { type: 'string', description: 'Comment on the change, for the audit log.' },
};

/**
 * Title and comment alone, or nothing. Without anything to say, some clients send an empty list, and empty text to an
 * activation.
 */
export const WORDS_BODY: Schema = {
  type: ['object', 'array', 'string', 'null'],
  maxItems: 0,
  additionalProperties: false,
  properties: WORDS_MEMBERS,
};

/** The longest text that is stored, in UTF-16 code units. Longer texts are cut and not refused. */
const MAX_LENGTH = 10_000;

/** If query and body have one, the query counts; empty text counts as not given. */
export function noteFrom(query: unknown, body: unknown): GivenNote {
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
 * The texts that a workspace with required title and comment demands for a change.
 *
 * - `both`: title and comment
 * - `both-or-empty-answer`: title and comment, or else a refusal without a body (the contract, for PATCH of a
 * definition)
 * - `comment`: the contract's body of `removeKeys` has no place for a title
 */
export type NoteRequirement = 'both' | 'both-or-empty-answer' | 'comment';

/** @throws Problem (400) */
export function checkNote(note: GivenNote, needed: NoteRequirement): void {
  const complete = note.comment !== null && (note.title !== null || needed === 'comment');
  if (complete) return;
  if (needed === 'both-or-empty-answer') throw new Problem(400, '', { bodyless: true });
  throw badRequest('Comment/title combination invalid for workspace');
}
