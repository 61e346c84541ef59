import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { API_PREFIX } from '../../src/admin-api/wire.js';
import { changeAnswer, refuse, sendJson } from './answers.js';

/** What the contract leaves open and other services do otherwise than ours, as middleware of a test service. */

type Habit = (next: RequestListener) => RequestListener;

/** It shows no seeds, like the vendor's, so that plans say the same whatever seeds it drew. */
export const withoutSeeds: Habit = (next) => (request, response) => {
  changeAnswer(response, (text) => text.replace(/,"seed":\d+,"trafficAllocationSeed":\d+/g, ''));
  next(request, response);
};

/**
 * Of the keys of a segment a page holds five at most, and `count` is their number; an upload replaces all of them, and there
 * is no endpoint that adds to them.
 */
export const withHardKeys: Habit = (next) => (request, response) => {
  const url = new URL(request.url ?? '/', 'http://service');
  const { pathname, searchParams } = url;
  if (request.method === 'GET' && pathname.endsWith('/keys')) {
    const limit = Number(searchParams.get('limit') ?? '100');
    searchParams.set('limit', String(Math.min(5, limit)));
    changeAnswer(response, withPageCount);
  }
  if (pathname.endsWith('/uploadKeys')) url.pathname = `${pathname}/missing`;
  if (pathname.endsWith('/upload')) searchParams.set('replace', 'true');
  request.url = url.pathname + url.search;
  next(request, response);
};

function withPageCount(text: string): string {
  const answer = JSON.parse(text) as { keys?: unknown[] };
  return JSON.stringify(answer.keys ? { ...answer, count: answer.keys.length } : answer);
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const DEFINITION = /^\/internal\/api\/v2\/splits\/ws\/[^/]+\/([^/]+)\/environments\/[^/]+$/;

/** It finds definitions by the id of their flag alone. */
export const withIdsAlone: Habit = (next) => (request, response) => {
  const { method, url = '' } = request;
  const [, flag] = DEFINITION.exec(url.split('?')[0] ?? '') ?? [];
  if (method !== 'GET' || flag === undefined || ID.test(flag)) next(request, response);
  else refuse(response, 404, `Could not find splitmetadata ${flag}`);
};

/** What else stands in a matcher may mean anything, and is left alone. */
const KNOWN_IN_MATCHERS = new Set(['strings', 'depends', 'between']);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Lists that are sets: their order in an answer means nothing. */
const SETS = new Set(['strings', 'keys', 'segments', 'tags', 'depends-treatments']);

/**
 * Its answers are as noisy as its contract lets them be: nulls and fields that nobody knows come on top,
 * fields change places, sets are turned round. Matchers get nulls only: what stands in one of a type that is not known
 * has a meaning that is not known.
 */
export const noisy: Habit = (next) => (request, response) => {
  changeAnswer(response, withNoise);
  next(request, response);
};

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

/** A change request as a service keeps it that accepts several for one object. */
export interface UnlockedRequest {
  readonly id: string;
  status: string;
  readonly environmentId: string;
  readonly operationType: string;
  readonly title: string;
  readonly comment: string;
  readonly comments: readonly object[];
  readonly split: { readonly name: string; readonly defaultRule: readonly object[] };
  readonly approvers: readonly string[];
  readonly creationTime: number;
  /** The header with the key that submitted it: that key alone withdraws it. */
  readonly author: string;
}

/**
 * Keeps change requests in the place of the service, oldest first, and accepts several for one object at the same time.
 * The contract does not say that a service refuses the second one.
 */
export function unlockedRequests(kept: UnlockedRequest[]): Habit {
  return (next) => (request, response) => {
    const { method } = request;
    const url = new URL(request.url ?? '/', 'http://service');
    const [, first, ...rest] = url.pathname.slice(API_PREFIX.length).split('/');
    if (first !== 'changeRequests') {
      next(request, response);
      return;
    }
    if (method === 'GET') {
      const isAsked = (each: UnlockedRequest): boolean =>
        (['status', 'environmentId'] as const).every(
          (name) => each[name] === (url.searchParams.get(name) ?? each[name]),
        );
      sendJson(response, 200, { data: kept.filter(isAsked).reverse(), nextMarker: null });
      return;
    }
    const author = request.headers.authorization ?? '';
    void json(request).then((sent) => {
      const body = sent as UnlockedRequest;
      if (method === 'POST') {
        const comments = [{ comment: body.comment, user: 'test', role: 'SUBMITTER' }];
        const environmentId = rest.at(-1) ?? '';
        const made = { ...body, id: randomUUID(), status: 'REQUESTED', environmentId, comments };
        kept.push({ ...made, approvers: [], creationTime: Date.now(), author });
        sendJson(response, 200, made);
        return;
      }
      const found = kept.find(({ id }) => id === rest[0]);
      if (found?.status !== 'REQUESTED') refuse(response, 409, 'It is decided already');
      else if (found.author !== author) refuse(response, 403, 'Only its author withdraws it');
      else sendJson(response, 200, Object.assign(found, { status: body.status }));
    });
  };
}

/**
 * Holds each submission of a change request until another one has come too, so that all have looked before any is made.
 * One that stays alone goes on after five seconds.
 */
export const inPairs: Habit = (next) => {
  let waiting: (() => void) | undefined;
  return (request, response) => {
    const goOn = (): void => {
      next(request, response);
    };
    if (request.method !== 'POST' || !(request.url ?? '').includes('/changeRequests/')) goOn();
    else if (waiting) {
      waiting();
      goOn();
    } else {
      const timer = setTimeout(() => waiting?.(), 5_000);
      waiting = () => {
        clearTimeout(timer);
        waiting = undefined;
        goOn();
      };
    }
  };
};
