import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EXIT, FlagkeelError } from '../errors.js';
import type { Method } from './http-client.js';

/** What is known of a span: plain values, never a secret, a key or a text that a person wrote. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

/** One request as it went over the wire: a try, not what a caller asked for. */
export interface SentRequest {
  readonly method: Method;
  /** See `routeOf`. */
  readonly route: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Null: no whole answer came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Tries of the same request before this one. */
  readonly triesBefore: number;
}

/** Told of everything that goes to the service, to be counted. Never throws. */
export interface Traffic {
  readonly onRequest: (request: SentRequest) => void;
  /** A request waited so long for its turn, because the pace is limited. */
  readonly onTurn: (waitMs: number) => void;
  /** A request is about to be sent once more. */
  readonly onRetry: () => void;
}

/** A stretch of work that has begun. Never throws. */
export interface OpenSpan {
  add(facts: Facts): void;
  /** @param error a code, where what was done failed. */
  end(error?: string): void;
}

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  /** In a word of the daemon's results; `planned` where nothing was to be written, `done` where there is no plan by nature. */
  readonly result: string;
  /** What ended it: a code, or what was thrown. */
  readonly error?: unknown;
  /** Null: the run came to none. */
  readonly plan: RunPlan | null;
}

/** What is counted of a plan; a part of its JSON. */
export interface RunPlan {
  readonly changes: readonly {
    readonly kind: string;
    readonly action: string;
    readonly outcome?: string;
  }[];
  readonly guards?: readonly { readonly guard: string }[];
}

/** Takes what is told of the runs of this process. Never throws. */
export interface Observer {
  /** @param parent null: the span is the first of its trace. */
  readonly begin: (
    span: { readonly name: string; readonly facts: Facts; readonly startedAtMs?: number },
    parent: OpenSpan | null,
    kind: 'internal' | 'client',
  ) => OpenSpan;
  /** Of clients whose requests nobody else counts. */
  readonly traffic?: Traffic;
  /** @param source which specs were run. */
  readonly onRun?: (source: string, end: RunEnd & { readonly durationMs: number }) => void;
}

/** One for the process, as the variables are that ask for it. */
let observer: Observer | undefined;
const scopes = new AsyncLocalStorage<{ readonly run: OpenSpan; readonly span: OpenSpan }>();

/** Whether somebody is told of the runs of this process. */
export function isObserved(): boolean {
  return observer !== undefined;
}

/** From now on runs are told to this one. @returns ends that. */
export function observe(by: Observer): () => void {
  observer = by;
  return () => {
    observer = undefined;
  };
}

/**
 * Does the work of one run as the first span of a trace. Where nobody observes, it only does the work.
 *
 * @param source which specs are run: a name, or a directory. `id`: where the log has one; default: a new one.
 */
export async function tracedRun<T>(
  { name, source, id }: { readonly name: string; readonly source: string; readonly id?: string },
  task: () => Promise<T>,
  endOf: (value: T) => RunEnd,
): Promise<T> {
  if (!observer) return task();
  const startedAt = performance.now();
  const facts = { 'flagkeel.source': source, 'flagkeel.run.id': id ?? randomUUID() };
  const span = observer.begin({ name: `flagkeel ${name}`, facts }, null, 'internal');
  return within({ run: span, span }, task, (value) => {
    const end = endOf(value);
    observer?.onRun?.(source, { ...end, durationMs: performance.now() - startedAt });
    return runFacts(end);
  });
}

/** With these a run has not failed: it did what was asked, found what it was to tell of, or was told to end. */
const WELL: readonly number[] = [EXIT.ok, EXIT.changes, EXIT.sigint, EXIT.sigterm];

function runFacts({ exitCode, result, error }: RunEnd): Facts {
  const facts = { 'flagkeel.result': result, 'flagkeel.exit_code': exitCode };
  if (WELL.includes(exitCode)) return facts;
  return { ...facts, 'error.type': error === undefined ? result : codeOf(error) };
}

function codeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return error instanceof FlagkeelError ? error.code : 'BUG';
}

/**
 * Does a part of the work as a span below the one that is under way. Where there is none, it only does the work.
 *
 * @param factsOf what is known of the span by its end; `error.type` is the code of what failed.
 */
export async function traced<T>(
  name: string,
  task: () => Promise<T>,
  facts: Facts = {},
  factsOf?: (value: T) => Facts,
): Promise<T> {
  const scope = scopes.getStore();
  const span = scope && observer?.begin({ name, facts }, scope.span, 'internal');
  return scope && span ? within({ ...scope, span }, task, factsOf) : task();
}

async function within<T>(
  scope: { readonly run: OpenSpan; readonly span: OpenSpan },
  task: () => Promise<T>,
  factsOf?: (value: T) => Facts,
): Promise<T> {
  const { span } = scope;
  try {
    const value = await scopes.run(scope, task);
    const facts = factsOf?.(value) ?? {};
    span.add(facts);
    const error = facts['error.type'];
    span.end(error === undefined ? undefined : String(error));
    return value;
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
}

/** Says something of the run that is under way. */
export function noteRun(facts: Facts): void {
  scopes.getStore()?.run.add(facts);
}

/** Tells the observer of requests too; those outside a run are counted, and are in no trace. */
export function observedTraffic(traffic: Traffic | undefined): Traffic {
  const all = [traffic, observer?.traffic];
  return {
    onRequest: (request) => {
      for (const each of all) each?.onRequest(request);
      traceRequest(request);
    },
    onTurn: (waitMs) => {
      for (const each of all) each?.onTurn(waitMs);
    },
    onRetry: () => {
      for (const each of all) each?.onRetry();
    },
  };
}

/** By the names that OpenTelemetry has for requests of clients. The URL is left out: names and keys stand in it. */
function traceRequest({ method, route, origin, status, ...request }: SentRequest): void {
  const scope = scopes.getStore();
  if (!scope || !observer) return;
  const { hostname, port, protocol } = new URL(origin);
  const { triesBefore, durationMs } = request;
  const facts: Facts = {
    'http.request.method': method,
    'url.template': route,
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(status !== null && { 'http.response.status_code': status }),
    ...(triesBefore > 0 && { 'http.request.resend_count': triesBefore }),
  };
  const started = { name: `${method} ${route}`, facts, startedAtMs: Date.now() - durationMs };
  const span = observer.begin(started, scope.span, 'client');
  span.end(status === null ? 'no-answer' : status >= 400 ? String(status) : undefined);
}
