import type { ServerResponse } from 'node:http';
import { refuse, type HeldAnswer } from '../../support/answers.js';

/** The connection of the request that goes wrong. */
export interface Wire {
  /** What the service answered; undefined where the request never reached it. */
  readonly real: HeldAnswer | undefined;
  readonly response: ServerResponse;
}

/** What goes wrong with one answer. */
export interface AnswerFault {
  readonly name: string;
  /** Which requests it can happen to, and whether the service may have done the work before. */
  readonly meets: 'all' | 'done' | 'pages' | 'writes';
  readonly answer: (wire: Wire) => void;
  /** How the query of the request is changed before the service reads it. */
  readonly changeQuery?: (query: URLSearchParams) => void;
}

const JSON_TYPE = { 'content-type': 'application/json' };

const refusal = (status: number, headers: Readonly<Record<string, string>> = {}) => {
  return ({ response }: Wire): void => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    refuse(response, status, 'fault');
  };
};

const page = (status: number) => {
  return ({ response }: Wire): void => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Sorry</title><h1>Try again later</h1>');
  };
};

const text = (make: (real: string) => string) => {
  return ({ response, real }: Wire): void => {
    response.writeHead(200, JSON_TYPE);
    response.end(make(real?.text ?? '{}'));
  };
};

/** Sends the real answer, or, where there is none, what a service could have said. */
const asItIs = text((real) => real);

function withoutMembers(real: string): string {
  const answer = JSON.parse(real) as unknown;
  if (Array.isArray(answer)) return '[]';
  const { objects, keys } = answer as { objects?: unknown; keys?: unknown };
  if (objects !== undefined)
    return JSON.stringify({ ...(answer as object), objects: [], totalCount: 0 });
  if (keys !== undefined) return JSON.stringify({ ...(answer as object), keys: [], count: 0 });
  return real;
}

export const FAULTS: readonly AnswerFault[] = [
  { name: '429 without Retry-After', meets: 'all', answer: refusal(429) },
  {
    name: '429, Retry-After no number',
    meets: 'all',
    answer: refusal(429, { 'retry-after': 'soon' }),
  },
  {
    name: '429, Retry-After a day',
    meets: 'all',
    answer: refusal(429, { 'retry-after': '86400' }),
  },
  {
    name: '429, Retry-After a date',
    meets: 'all',
    answer: (wire) => {
      refusal(429, { 'retry-after': new Date(Date.now() + 1_000).toUTCString() })(wire);
    },
  },
  { name: '500 with a page', meets: 'all', answer: page(500) },
  { name: '502 with a page', meets: 'all', answer: page(502) },
  { name: '503 with a page', meets: 'all', answer: page(503) },
  { name: '202 challenge', meets: 'all', answer: page(202) },
  { name: '401', meets: 'all', answer: refusal(401) },
  { name: '403', meets: 'all', answer: refusal(403) },
  { name: '404', meets: 'all', answer: refusal(404) },
  { name: '409', meets: 'writes', answer: refusal(409) },
  { name: '413', meets: 'writes', answer: refusal(413) },
  { name: '423', meets: 'writes', answer: refusal(423) },
  {
    name: 'truncated',
    meets: 'all',
    answer: ({ response, real }) => {
      const whole = real?.text ?? '{"id": "1", "name": "x"}';
      response.writeHead(200, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(whole)) });
      response.write(whole.slice(0, Math.floor(whole.length / 2)), () => response.destroy());
    },
  },
  { name: 'empty 200', meets: 'all', answer: text(() => '') },
  { name: '200 of another type', meets: 'all', answer: text(() => '[["text"], 7, null]') },
  { name: '200 that lies', meets: 'all', answer: text(withoutMembers) },
  {
    name: 'connection reset',
    meets: 'all',
    answer: ({ response }) => {
      response.destroy();
    },
  },
  { name: 'silence', meets: 'all', answer: () => undefined },
  {
    name: 'slow drip',
    meets: 'done',
    answer: ({ response, real }) => {
      response.writeHead(real?.status ?? 200, JSON_TYPE);
      const bytes = [...Buffer.from(real?.text ?? '{}')];
      const size = Math.ceil(bytes.length / 20);
      const drip = (): void => {
        response.write(Buffer.from(bytes.splice(0, size)));
        if (bytes.length === 0) response.end();
        else setTimeout(drip, 40);
      };
      drip();
    },
  },
  {
    name: 'duplicate page',
    meets: 'pages',
    answer: asItIs,
    changeQuery: (query) => {
      query.set('offset', '0');
    },
  },
  { name: 'missing page', meets: 'pages', answer: text(withoutMembers) },
  {
    name: 'shifting pages',
    meets: 'pages',
    answer: asItIs,
    changeQuery: (query) => {
      query.set('offset', String(Number(query.get('offset')) + 1));
    },
  },
];

/** What happens to the program itself. */
export const SIGNALS = ['SIGKILL', 'SIGTERM'] as const;

/** What a person or a platform ends a run with, in the middle of a fault too. */
export const INTERRUPTS = ['SIGINT', 'SIGTERM'] as const;

export type Interrupt = (typeof INTERRUPTS)[number];

export type Signal = (typeof SIGNALS)[number] | Interrupt;
