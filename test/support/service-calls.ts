import {
  API_PREFIX,
  type WireDefinition,
  type WireFlag,
  type WireMatcher,
  type WireRule,
} from '../../src/admin-api/wire.js';
import { descriptionOf } from './service-description.js';
import type { TestService } from './service.js';

export type Request = readonly [method: string, path: string, body?: unknown];

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Parsed; undefined where there was no text. */
  readonly body: unknown;
}

/**
 * Calls the service as a client would: real HTTP, JSON, the key in the header. Paths stand after the prefix. Every
 * answer is JSON and held against what the service says of itself under `/openapi.json`.
 */
export interface ServiceCalls {
  call(method: string, path: string, body?: unknown, headers?: object): Promise<Answer>;
  /** Sends text as it is. */
  send(method: string, path: string, text: string, headers?: object): Promise<Answer>;
  /** The body of a 200; anything else fails the test. */
  ok<T>(method: string, path: string, body?: unknown): Promise<T>;
  status(method: string, path: string, body?: unknown): Promise<number>;
  /** Creates a flag in `Default`. */
  flag(name: string, more?: object): Promise<WireFlag>;
  /** Creates a flag in `Default`, and its definition in `staging`. */
  define(name: string, changed?: object): Promise<WireDefinition>;
  /** Creates a segment in `Default` and activates it, without a place in `staging`. Gives its path in the first. */
  segment(name: string, ...places: readonly string[]): Promise<string>;
}

/** The path of a definition. */
export function at(flag: string, environment = 'staging', workspace = 'Default'): string {
  return `/splits/ws/${workspace}/${flag}/environments/${environment}`;
}

export function callsOf(service: Pick<TestService, 'origin' | 'key'>): ServiceCalls {
  const send = async (
    method: string,
    path: string,
    text: string,
    headers: object = {},
    sent?: unknown,
  ): Promise<Answer> => {
    const response = await fetch(`${service.origin}${API_PREFIX}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${service.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(text === '' ? {} : { body: text }),
    });
    const answer = await response.text();
    const parsed = answer === '' ? undefined : (JSON.parse(answer) as unknown);
    if (parsed !== undefined) {
      const type = response.headers.get('content-type') ?? 'none';
      if (!type.startsWith('application/json')) throw new Error(`${method} ${path}: ${type}`);
      const description = await descriptionOf(service.origin);
      const plainPath = `${API_PREFIX}${path.split('?')[0] ?? ''}`;
      description.check(method, plainPath, response.status, parsed, sent);
    }
    return { status: response.status, text: answer, headers: response.headers, body: parsed };
  };
  const call: ServiceCalls['call'] = async (method, path, body, headers) =>
    send(method, path, body === undefined ? '' : JSON.stringify(body), headers, body);
  const ok: ServiceCalls['ok'] = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    if (answer.status !== 200) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    }
    return answer.body as T;
  };
  const flag: ServiceCalls['flag'] = async (name, more = {}) =>
    ok('POST', '/splits/ws/Default/trafficTypes/user', { name, ...more });
  return {
    send,
    call,
    ok,
    status: async (...request) => (await call(...request)).status,
    flag,
    define: async (name, changed) => {
      await flag(name);
      return ok('POST', at(name), aDefinition(changed));
    },
    segment: async (name, ...places) => {
      const [first = 'staging', ...others] = places;
      await ok('POST', '/segments/ws/Default/trafficTypes/user', { name });
      for (const place of [first, ...others]) await ok('POST', `/segments/${place}/${name}`);
      return `/segments/${first}/${name}`;
    },
  };
}

/** A definition that is complete and that nothing refuses. */
export function aDefinition(changed: object = {}): object {
  return {
    killed: false,
    treatments: [
      { name: 'on', description: 'new' },
      { name: 'off', description: 'old' },
    ],
    defaultTreatment: 'off',
    baselineTreatment: 'off',
    trafficAllocation: 100,
    rules: [],
    defaultRule: [{ treatment: 'off', size: 100 }],
    ...changed,
  };
}

/** A copy with another value at a path; undefined takes it away. */
export function withValueAt(document: object, path: string, value: unknown): object {
  const copy = structuredClone(document) as Record<string, unknown>;
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  const holder = names.reduce((found, name) => found[name] as Record<string, unknown>, copy);
  if (value === undefined) Reflect.deleteProperty(holder, last);
  else holder[last] = value;
  return copy;
}

export function ruleOn(matcher: object, treatment = 'on'): WireRule {
  return {
    buckets: [{ treatment, size: 100 }],
    condition: { combiner: 'AND', matchers: [matcher as WireMatcher] },
  };
}
