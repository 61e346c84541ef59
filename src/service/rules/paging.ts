import { badRequest } from '../problem.js';

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export interface PageSizes {
  /** Where the query names no limit. */
  readonly usual: number;
  /** A larger one is cut to this, and the answer says so. */
  readonly largest: number;
}

/** The contract's sizes, and where it is silent those of public documentation. */
export const PAGE_SIZES = {
  workspaces: { usual: 10, largest: 200 },
  objects: { usual: 20, largest: 50 },
  keys: { usual: 100, largest: 100 },
} as const satisfies Record<string, PageSizes>;

/** @param query what the client sent: text, a list of texts, or nothing. */
export function pageFrom(query: unknown, sizes: PageSizes): Page {
  const given = (query ?? {}) as { readonly offset?: unknown; readonly limit?: unknown };
  const offset = wholeNumber('offset', given.offset, 0);
  const limit = wholeNumber('limit', given.limit, sizes.usual);
  if (limit === 0) throw badRequest('limit must be at least 1');
  return { offset, limit: Math.min(limit, sizes.largest) };
}

function wholeNumber(name: string, value: unknown, absent: number): number {
  if (value === undefined || value === '') return absent;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  if (number === undefined) throw badRequest(`${name} must be a whole number, 0 or more`);
  return number;
}
