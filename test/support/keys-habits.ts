import type { RequestListener } from 'node:http';
import { changeAnswer } from './changed-answers.js';

/** What the contract leaves open about the keys of segments, and another service does otherwise than ours. */
export interface KeysHabits {
  /** `count` is the number of keys in the page, not in the segment. */
  readonly countsPage?: boolean;
  /** Keys that a page holds at most, however many are asked for. */
  readonly cutTo?: number;
  /** An upload replaces the keys of the segment, and there is no endpoint that adds to them. */
  readonly replaces?: boolean;
}

/** The service as one with other habits. */
export function withKeysHabits(habits: KeysHabits): (next: RequestListener) => RequestListener {
  const { countsPage = false, cutTo = Infinity, replaces = false } = habits;
  return (next) => (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const { pathname, searchParams } = url;
    if (request.method === 'GET' && pathname.endsWith('/keys')) {
      const limit = Number(searchParams.get('limit') ?? '100');
      searchParams.set('limit', String(Math.min(cutTo, limit)));
      if (countsPage) changeAnswer(response, withPageCount);
    }
    if (replaces && pathname.endsWith('/uploadKeys')) url.pathname = `${pathname}/missing`;
    if (replaces && pathname.endsWith('/upload')) searchParams.set('replace', 'true');
    request.url = url.pathname + url.search;
    next(request, response);
  };
}

function withPageCount(text: string): string {
  const answer = JSON.parse(text) as { keys?: unknown[] };
  return JSON.stringify(answer.keys ? { ...answer, count: answer.keys.length } : answer);
}
