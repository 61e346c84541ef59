import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { beforeAll } from 'vitest';
import {
  startService,
  type RunningService,
  type ServiceOptions,
} from '../../src/service/service.js';
import { API_PREFIX } from '../../src/admin-api/wire.js';
import { openStore, type StoreLocation } from '../../src/service/store/store.js';
import type { Seed } from '../../src/service/seed.js';
import { holdAnswer, refuse, type HeldAnswer } from './answers.js';

/**
 * How the next request that matches fails:
 * - a status: answered so, and not run
 * - `reset-before`: the connection breaks, and it was not run
 * - `reset-after`: it was run, and the connection breaks before the answer
 * - `truncate`: it was run, and the connection breaks in the middle of the answer
 * - `slow`: it is run, some time later
 * - `hang`: neither run nor answered
 * - `hold`: it waits for `release`, and is run then
 */
export type Fault = number | 'reset-before' | 'reset-after' | 'truncate' | 'slow' | 'hang' | 'hold';

export interface RecordedRequest {
  readonly method: string;
  /** Without the query, as it was sent (encoded). */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Null: there was no answer. */
  readonly status: number | null;
}

interface RequestMatch {
  readonly method?: string;
  /** Of the path. */
  readonly path?: RegExp;
  /** So many that match are let through before. */
  readonly passing?: number;
}

type Choose = (method: string, request: IncomingMessage) => Fault | undefined;

export interface TestService extends RunningService {
  /** Of an Admin API key that may do everything. */
  readonly key: string;
  /** Those of the interface, in the order in which they ended. Counted at the HTTP server; may be emptied. */
  readonly requests: RecordedRequest[];
  /** Each call makes one more request fail; those that match first come first. */
  failNext(match: RequestMatch, fault: Fault): void;
  /** Faults that no request has met yet. */
  faultsLeft(): number;
  /** From now on each request may fail as this says; undefined: no fault, a planned one excepted. */
  failAtRandom(choose: Choose): void;
  /** After each write, a read that was answered before is answered in the same words so many times more. */
  showStale(times: number): void;
  /** Resolves once a request is held. */
  held(): Promise<void>;
  /** Lets the requests go on that are held. */
  release(): void;
}

export const TEST_SEED: Seed = {
  workspaces: [
    {
      name: 'Default',
      environments: [{ name: 'staging' }, { name: 'production', production: true }],
      trafficTypes: ['user', 'account'],
    },
  ],
};

/**
 * The real service, in memory unless `store` says otherwise, with faults on request. Stop it after the test.
 *
 * `TEST_POSTGRES_SERVER` and `TEST_SERVICE_STRICT=1` change what stands where a test says nothing.
 */
export async function startTestService(
  options: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const requests: RecordedRequest[] = [];
  const faults: Faults = {
    planned: [],
    hanging: new Set(),
    held: [],
    stale: new StaleReads(),
    onHeld: [],
    choose: () => undefined,
  };
  const service = await startService({
    store: options.store ?? (await defaultStore()),
    seed: TEST_SEED,
    strict: process.env['TEST_SERVICE_STRICT'] === '1',
    ...options,
    middleware: (next) => withFaults(options.middleware?.(next) ?? next, requests, faults),
  });
  const key = await createTestKey(service);
  return {
    ...service,
    key,
    requests,
    failNext: (match, fault) => {
      faults.planned.push({ match, fault, passing: match.passing ?? 0 });
    },
    faultsLeft: () => faults.planned.length,
    failAtRandom: (choose) => {
      faults.choose = choose;
    },
    showStale: (times) => {
      faults.stale.times = times;
    },
    held: async () =>
      new Promise((resolve) => {
        if (faults.held.length > 0) resolve();
        else faults.onHeld.push(resolve);
      }),
    release: () => {
      for (const goOn of faults.held.splice(0)) goOn();
    },
    stop: async () => {
      for (const socket of faults.hanging) socket.destroy();
      await service.stop();
    },
  };
}

/** The service of a file or a `describe`. */
export function aService(options: Partial<ServiceOptions> = {}): TestService {
  return startedOnce(
    async () => startTestService(options),
    async (service) => service.stop(),
  );
}

/** What the tests of a file or a `describe` share: started before them, and stopped after them. */
export function startedOnce<T extends object>(
  start: () => Promise<T>,
  stop: (running: T) => Promise<void>,
): T {
  let running: T | undefined;
  beforeAll(async () => {
    const started = await start();
    running = started;
    return async () => stop(started);
  });
  return new Proxy({} as T, {
    get: (_, name) => {
      if (running === undefined) throw new Error('it starts before the first test');
      return Reflect.get(running, name) as unknown;
    },
  });
}

/**
 * A key that may do everything. It is called `test`, and gets a name of its own where another start over the same store
 * made that one, perhaps at this very moment.
 */
export async function createTestKey(service: RunningService): Promise<string> {
  return service.createKey('test').catch(async () => service.createKey(`test ${randomUUID()}`));
}

/** With `TEST_POSTGRES_SERVER=postgres://…` the same tests run over PostgreSQL, in databases of their own. */
async function defaultStore(): Promise<StoreLocation> {
  const server = process.env['TEST_POSTGRES_SERVER'];
  if (server === undefined) return { kind: 'memory' };
  const { copyDatabase, createDatabase } = await import('./postgres.js');
  withTables ??= createDatabase(server).then(async (url) => {
    await (await openStore({ kind: 'postgres', url })).close();
    return url;
  });
  return { kind: 'postgres', url: await copyDatabase(await withTables) };
}

/** A database with all tables and nothing in them: a copy takes a third of the time that the migration takes. */
let withTables: Promise<string> | undefined;

interface Faults {
  readonly planned: { match: RequestMatch; fault: Fault; passing: number }[];
  /** Connections that wait for an answer that never comes: the service would wait for them when it stops. */
  readonly hanging: Set<Socket>;
  readonly held: (() => void)[];
  readonly stale: StaleReads;
  readonly onHeld: (() => void)[];
  choose: Choose;
}

const SLOW_MS = 300;

function withFaults(
  next: RequestListener,
  requests: RecordedRequest[],
  faults: Faults,
): RequestListener {
  const { planned, hanging } = faults;
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const method = request.method ?? 'GET';
    if (!url.pathname.startsWith(API_PREFIX)) {
      next(request, response);
      return;
    }
    response.once('close', () => {
      requests.push({
        method,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        status: response.writableFinished ? response.statusCode : null,
      });
    });
    const index = planned.findIndex((each) => {
      const { match } = each;
      const isMeant =
        (match.method ?? method) === method && (match.path?.test(url.pathname) ?? true);
      if (isMeant) each.passing -= 1;
      return isMeant && each.passing < 0;
    });
    const [found] = index === -1 ? [] : planned.splice(index, 1);
    const fault = found?.fault ?? faults.choose(method, request);
    if (faults.stale.answers(request, response)) return;
    if (fault === undefined) next(request, response);
    else if (fault === 'hold') {
      faults.held.push(() => {
        next(request, response);
      });
      for (const tell of faults.onHeld.splice(0)) tell();
    } else fail(fault, request, response, next);
    if (fault === 'hang') hanging.add(request.socket);
  };
}

function fail(
  fault: Exclude<Fault, 'hold'>,
  request: IncomingMessage,
  response: ServerResponse,
  next: RequestListener,
): void {
  if (typeof fault === 'number') {
    request.resume();
    if (fault >= 300 && fault < 400) response.setHeader('location', '/away');
    refuse(response, fault, 'fault');
    return;
  }
  switch (fault) {
    case 'reset-before':
      request.socket.destroy();
      return;
    case 'reset-after':
      holdAnswer(response, () => request.socket.destroy());
      next(request, response);
      return;
    case 'truncate':
      holdAnswer(response, ({ text }) => {
        cut(response, text);
      });
      next(request, response);
      return;
    case 'slow':
      setTimeout(() => {
        next(request, response);
      }, SLOW_MS);
      return;
    case 'hang':
      request.resume();
  }
}

/** Sends the head and half of the body, and breaks the connection. */
function cut(response: ServerResponse, text: string): void {
  const half = text.slice(0, text.length / 2);
  response.setHeader('content-length', Buffer.byteLength(text));
  if (half === '') response.socket?.destroy();
  else response.write(half, () => response.socket?.destroy());
}

interface KnownAnswer extends HeldAnswer {
  staleFor: number;
}

/** A service that lags: what it answered to a read before a write it goes on answering for a while. */
class StaleReads {
  /** How often, after each write. 0: it does not lag. */
  times = 0;
  readonly #answers = new Map<string, KnownAnswer>();

  /** @returns whether it has answered; otherwise it listens to what is answered. */
  answers(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.times === 0) return false;
    if (request.method !== 'GET') {
      response.once('finish', () => {
        for (const each of this.#answers.values()) each.staleFor = this.times;
      });
      return false;
    }
    const url = request.url ?? '';
    const known = this.#answers.get(url);
    if (known && known.staleFor > 0) {
      known.staleFor -= 1;
      response.writeHead(known.status, { 'content-type': 'application/json' }).end(known.text);
      return true;
    }
    holdAnswer(response, (answer) => {
      this.#answers.set(url, { ...answer, staleFor: 0 });
      response.end(answer.text);
    });
    return false;
  }
}
