import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { changeAnswer } from './changed-answers.js';

/** What else stands in a matcher may mean anything, and is left alone. */
const KNOWN_IN_MATCHERS = new Set(['strings', 'depends', 'between']);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Lists that are sets: their order in an answer means nothing. */
const SETS = new Set(['strings', 'keys', 'segments', 'tags', 'depends-treatments']);

/**
 * A service whose answers are as noisy as its contract lets them be: nulls and fields that nobody knows come on top,
 * fields change places, sets are turned round. Matchers get nulls only: what stands in one of a type that is not known
 * has a meaning that is not known.
 */
export function noisy(next: RequestListener): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    changeAnswer(response, withNoise);
    next(request, response);
  };
}

function withNoise(text: string): string {
  try {
    return JSON.stringify(noisyValue(JSON.parse(text) as Json, ''));
  } catch {
    return text;
  }
}

function noisyValue(value: Json, name: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((each) => noisyValue(each, name));
    return SETS.has(name) && value.every(isSetMember) ? items.toReversed() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const isInMatcher = name === 'matchers' || name === 'depends' || name === 'between';
  const members = Object.entries(value).map(([key, each]): [string, Json] => {
    if (name === 'matchers' && !KNOWN_IN_MATCHERS.has(key)) return [key, each];
    const member = name === 'depends' && key === 'treatments' ? 'depends-treatments' : key;
    return [key, noisyValue(each, member)];
  });
  return {
    xNull: null,
    ...(!isInMatcher && { xUnknown: { more: [1, null] } }),
    ...Object.fromEntries(members.toReversed()),
  };
}

function isSetMember(value: Json): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}
