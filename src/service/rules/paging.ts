import { badRequest } from '../http/problem.js';
import type { Schema } from './matchers.js';

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export interface PageSizes {
  /** The limit if the query names none. */
  readonly usual: number;
  /** A larger limit is cut to this, and the answer says so. */
  readonly largest: number;
}

/**
 * The contract shows pages of 10 workspaces and at most 200, of 20 segments and of 100 keys. The other sizes are those
 * of public documentation.
 */
export const PAGE_SIZES = {
  workspaces: { usual: 10, largest: 200 },
  objects: { usual: 20, largest: 50 },
  keys: { usual: 100, largest: 100 },
} as const satisfies Record<string, PageSizes>;

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

/**
 * A limit that is too large is cut and never refused. @throws Problem (400) one of them is no whole number, or the
 * limit is 0.
 */
export function pageFrom(query: unknown, sizes: PageSizes): Page {
  const given = (query ?? {}) as { readonly offset?: unknown; readonly limit?: unknown };
  const offset = wholeNumber('offset', given.offset, 0);
  const limit = wholeNumber('limit', given.limit, sizes.usual);
  if (limit === 0) throw badRequest('limit must be at least 1');
  return { offset, limit: Math.min(limit, sizes.largest) };
}

/** An empty parameter, and one that is no text, count as not given. */
export function givenText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @param absent the number if the query has none, or an empty one. @throws Problem (400) it is no whole number. */
export function wholeNumber(name: string, value: unknown, absent: number): number {
  if (value === undefined || value === '') return absent;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  if (number === undefined) throw badRequest(`${name} must be a whole number, 0 or more`);
  return number;
}
