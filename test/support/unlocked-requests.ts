import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { API_PREFIX } from '../../src/admin-api/wire.js';

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
export function unlockedRequests(kept: UnlockedRequest[]) {
  return (next: RequestListener): RequestListener =>
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://service');
      const [, first, ...rest] = url.pathname.slice(API_PREFIX.length).split('/');
      if (first !== 'changeRequests') {
        next(request, response);
        return;
      }
      const answer = (status: number, body: object): void => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      };
      const filter = (name: 'status' | 'environmentId') => (each: UnlockedRequest) =>
        each[name] === (url.searchParams.get(name) ?? each[name]);
      if (request.method === 'GET') {
        const data = kept.filter(filter('status')).filter(filter('environmentId')).reverse();
        answer(200, { data, nextMarker: null });
        return;
      }
      const author = request.headers.authorization ?? '';
      void bodyOf(request).then((body) => {
        if (request.method === 'POST') {
          const { comment } = body;
          const comments = [{ comment, user: 'test', role: 'SUBMITTER' }];
          const environmentId = rest.at(-1) ?? '';
          const creationTime = Date.now();
          const made = { ...body, id: randomUUID(), status: 'REQUESTED', environmentId, comments };
          kept.push({ ...made, approvers: [], creationTime, author });
          answer(200, made);
          return;
        }
        const found = kept.find(({ id }) => id === rest[0]);
        if (found?.status !== 'REQUESTED') {
          answer(409, { code: 409, message: 'It is decided already' });
          return;
        }
        if (found.author !== author) {
          answer(403, { code: 403, message: 'Only its author withdraws it' });
          return;
        }
        found.status = body.status;
        answer(200, found);
      });
    };
}

async function bodyOf(request: IncomingMessage): Promise<UnlockedRequest> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as UnlockedRequest;
}

/**
 * Holds each submission of a change request until another one has come too, so that all have looked before any is made.
 * One that stays alone goes on after five seconds.
 */
export function inPairs(next: RequestListener): RequestListener {
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
}
