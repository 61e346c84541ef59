/** Members that many bodies and queries have: names, title and comment, pages. */

import type { WirePage } from '../../admin-api/wire.js';
import { badRequest, Problem } from '../http/problem.js';
import { closed, type Schema } from './shape.js';

/**
 * The contract shows no rule for names. Public documentation of such services has one: a letter first, then letters,
 * digits, `-` and `_`.
 */
const NAME = /^[A-Za-z][-_A-Za-z0-9]*$/;
const MAX_NAME_LENGTH = 256;

export const NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: NAME.source,
};

/** Any text on one line. */
export const TITLE_NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
};

/** Public documentation of such services does not allow these names for flags. */
const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(['datetime', 'string', 'set', 'integer']);

/** Clients get this treatment if a flag cannot be evaluated; a treatment of the same name would hide that. */
const RESERVED_TREATMENT_NAME = 'control';

/**
 * Names of treatments and segments may be versions and numbers too: the clients of such services know `1.0` and `20`,
 * and specs admit them.
 */
const FREE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const DESCRIPTION_SCHEMA: Schema = { type: 'string', maxLength: 10_000 };

/** The contract's bodies of a new flag and of a new segment. The traffic type comes from the path alone. */
export const CONTRACT_NEW_BODIES = {
  flag: closed({ name: NAME_SCHEMA, description: DESCRIPTION_SCHEMA }, ['name']),
  segment: closed(
    { name: { ...NAME_SCHEMA, pattern: FREE_NAME.source }, description: DESCRIPTION_SCHEMA },
    ['name'],
  ),
};

/** @throws Problem (400) the name, which fits `NAME_SCHEMA`, is a reserved word. */
export function checkFlagName(name: string): void {
  if (RESERVED_FLAG_NAMES.has(name)) throw badRequest(`Feature flag name ${name} is reserved`);
}

/** For seeds; `NAME_SCHEMA` checks the bodies of requests. @throws Problem (400) */
export function checkTrafficTypeName(name: string): void {
  checkForm('Traffic type', name, NAME, 'start with a letter and can contain "-_ a-z A-Z 0-9"');
}

/** @throws Problem (400) */
export function checkTreatmentName(name: string): void {
  if (name === RESERVED_TREATMENT_NAME) throw badRequest(`Treatment name ${name} is reserved`);
  const words = 'start with a letter, a digit or _ and can contain "-_. a-z A-Z 0-9"';
  checkForm('Treatment', name, FREE_NAME, words);
}

function checkForm(what: string, name: string, form: RegExp, words: string): void {
  if (name.length > MAX_NAME_LENGTH) {
    throw badRequest(`${what} names have at most ${MAX_NAME_LENGTH} characters`);
  }
  if (!form.test(name)) throw badRequest(`${what} names must ${words}`);
}

/** @throws Problem (400) the name is blank, too long, or holds a control character. */
export function checkTitleName(what: string, name: string): void {
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH || /[\u0000-\u001f\u007f]/.test(name)) {
    throw badRequest(`${what} names have 1 to ${MAX_NAME_LENGTH} printable characters`);
  }
}

/** Some clients send truth values as text. */
export const TRUTH_SCHEMA: Schema = { enum: [true, false, 'true', 'false'] };

/** Everything else is false, also an absent member. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true';

export interface GivenNote {
  readonly title: string | null;
  readonly comment: string | null;
}

/** Title and comment of a change in a body; clients may also send them in the query. */
export const WORDS_MEMBERS: Readonly<Record<string, Schema>> = {
  title: { type: ['string', 'null'] },
  comment: { type: ['string', 'null'] },
};

/** The contract names them for the PATCH of a definition; the service takes them for any change. */
export const WORDS_QUERY: Readonly<Record<string, Schema>> = {
  title: { type: 'string', description: 'Title of the change, for the audit log.' },
  comment: { type: 'string', description: 'Comment on the change, for the audit log.' },
};

/** Without anything to say, some clients send an empty list, and empty text to an activation. */
export const WORDS_BODY: Schema = {
  type: ['object', 'array', 'string', 'null'],
  maxItems: 0,
  additionalProperties: false,
  properties: WORDS_MEMBERS,
};

/** In UTF-16 code units. Longer texts are cut and not refused. */
const MAX_NOTE_LENGTH = 10_000;

/** If query and body have one, the query counts; empty text counts as not given. */
export function noteFrom(query: unknown, body: unknown): GivenNote {
  return { title: wordFrom('title', query, body), comment: wordFrom('comment', query, body) };
}

function wordFrom(name: keyof GivenNote, ...places: unknown[]): string | null {
  for (const place of places) {
    if (typeof place !== 'object' || place === null || Array.isArray(place)) continue;
    const value = (place as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string' && value.trim() !== '') return cutTo(value, MAX_NOTE_LENGTH);
  }
  return null;
}

/** In UTF-16 code units, but no half of a character, which no store can hold. */
export function cutTo(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/**
 * What a workspace with required title and comment demands for a change: both, which is refused without a body for the
 * contract's PATCH of a definition; or the comment, because the contract's body of `removeKeys` has no place for a
 * title.
 */
export type NoteRequirement = 'both' | 'both-or-empty-answer' | 'comment';

/** @throws Problem (400) */
export function checkNote({ title, comment }: GivenNote, needed: NoteRequirement): void {
  if (comment !== null && (title !== null || needed === 'comment')) return;
  if (needed === 'both-or-empty-answer') throw new Problem(400, '', { bodyless: true });
  throw badRequest('Comment/title combination invalid for workspace');
}

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/**
 * The limit if the query names none, and the largest: a larger one is cut, and the answer says so. The contract shows
 * pages of 10 workspaces and at most 200, of 20 segments and of 100 keys. The other sizes are those of public
 * documentation.
 */
const PAGE_SIZES = {
  workspaces: { usual: 10, largest: 200 },
  objects: { usual: 20, largest: 50 },
  requests: { usual: 20, largest: 100 },
  keys: { usual: 100, largest: 100 },
} as const;

export type QuerySchema = Readonly<Record<string, Schema>>;

export const textParameter = (description: string): Schema => ({ type: 'string', description });

/** A whole number. An empty parameter counts as not given. */
export const NUMBER_PARAMETER: Schema = {
  type: ['integer', 'string'],
  maximum: 999_999_999_999_999,
  maxLength: 0,
};

export const PAGE_QUERY: QuerySchema = {
  offset: { ...NUMBER_PARAMETER, minimum: 0, default: 0, description: 'Skips so many objects.' },
  limit: {
    ...NUMBER_PARAMETER,
    minimum: 1,
    description: 'Size of the page. One that is too large is cut, and the answer says to what.',
  },
};

/** @throws Problem (400) one of them is no whole number, or the limit is 0. */
export function pageFrom(
  query: Readonly<Record<string, unknown>>,
  of: keyof typeof PAGE_SIZES,
): Page {
  const { usual, largest } = PAGE_SIZES[of];
  const offset = wholeNumber('offset', query['offset'], 0);
  const limit = wholeNumber('limit', query['limit'], usual);
  if (limit === 0) throw badRequest('limit must be at least 1');
  return { offset, limit: Math.min(limit, largest) };
}

/** A page of a list, and the number of all rows. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly totalCount: number;
}

/** The answer with a page of a list. */
export function pageOf<Row>(
  page: Page,
  { rows, totalCount }: Listed<Row>,
  wire: (row: Row) => unknown,
): WirePage<unknown> {
  return { objects: rows.map(wire), ...page, totalCount };
}

/** An empty parameter, and one that is no text, count as not given. */
export function givenText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @param absent the number if the query has none, or an empty one. @throws Problem (400) it is no whole number. */
export function wholeNumber(name: string, value: unknown, absent: number): number {
  if (value === undefined || value === '') return absent;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw badRequest(`${name} must be a whole number, 0 or more`);
}
