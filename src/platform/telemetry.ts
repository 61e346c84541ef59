import { randomUUID } from 'node:crypto';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, SpanOptions } from '@opentelemetry/api';
import { EXIT, FlagkeelError } from '../errors.js';
import type { Method } from './http-client.js';
import { packageVersion } from './package-files.js';

/** Attributes of a span: plain values, and never a secret, a key or text that a person wrote. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

type Environment = Readonly<Record<string, string | undefined>>;

interface TracedRun {
  readonly name: string;
  readonly source: string;
  readonly id?: string;
  /** Variables in which `TRACEPARENT` may name a parent span, such as a CI job's. Default: the run begins a trace. */
  readonly environment?: Environment;
}

export interface RunEnd {
  readonly exitCode: number;
  /** A result of the daemon, `planned` for a run that was not to write, or `done` for a command that has no plan. */
  readonly result: string;
  readonly error?: unknown;
}

/** Without an SDK, which an operator loads before the program, all spans are no-ops. */
const TRACER = trace.getTracer('flagkeel', packageVersion());

const VARIABLES = {
  get: (environment: Environment, name: string) => environment[name.toUpperCase()],
  keys: Object.keys,
};

/** Does the work of one run in a span, the parent of all `traced` and `tracedRequest` spans in it. */
export async function tracedRun<T>(
  { name, source, id = randomUUID(), environment = {} }: TracedRun,
  task: () => Promise<T>,
  endOf: (value: T) => RunEnd,
): Promise<T> {
  const attributes = { 'flagkeel.source': source, 'flagkeel.run.id': id };
  const above = propagation.extract(ROOT_CONTEXT, environment, VARIABLES);
  const factsOf = (value: T): Facts => runFacts(endOf(value));
  return inSpan(`flagkeel ${name}`, { attributes }, { above, task, factsOf });
}

/** Exit codes of runs without a failure: done, found what they look for, or ended by a signal. */
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
 * Does a part of a run in a span below the current one. Outside a run it only does the work, because the part would
 * become a trace of its own. A failure sets `error.type` to its code.
 */
export async function traced<T>(
  name: string,
  task: () => Promise<T>,
  facts: Facts = {},
  factsOf?: (value: T) => Facts,
): Promise<T> {
  return partOfRun(name, { attributes: { ...facts } }, { task, factsOf });
}

interface TracedRequest {
  readonly method: Method;
  /** The path with `:word` for each name and key in it. */
  readonly route: string;
  readonly origin: string;
  readonly triesBefore: number;
}

/** Does one try of a request in a span with OpenTelemetry's names. Omits the URL, which has names and keys in it. */
export async function tracedRequest<Answer extends { readonly status: number }>(
  { method, route, origin, triesBefore }: TracedRequest,
  task: () => Promise<Answer>,
): Promise<Answer> {
  const { hostname, port, protocol } = new URL(origin);
  const attributes = {
    'http.request.method': method,
    'url.template': route,
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(triesBefore > 0 && { 'http.request.resend_count': triesBefore }),
  };
  const factsOf = ({ status }: Answer): Facts => ({
    'http.response.status_code': status,
    ...(status >= 400 && { 'error.type': String(status) }),
  });
  const options = { kind: SpanKind.CLIENT, attributes };
  return partOfRun(`${method} ${route}`, options, { task, factsOf, errorOf: () => 'no-answer' });
}

/** Adds attributes to the span of the current run, not to that of one part. */
export function noteRun(facts: Facts): void {
  const span = trace.getActiveSpan();
  if (span) add(span, facts);
}

interface Work<T> {
  readonly task: () => Promise<T>;
  readonly factsOf?: ((value: T) => Facts) | undefined;
  readonly errorOf?: (error: unknown) => string;
}

async function partOfRun<T>(name: string, options: SpanOptions, work: Work<T>): Promise<T> {
  if (!trace.getActiveSpan()) return work.task();
  return inSpan(name, options, { ...work, above: context.active() });
}

async function inSpan<T>(
  name: string,
  options: SpanOptions,
  { above, task, factsOf, errorOf = codeOf }: Work<T> & { readonly above: Context },
): Promise<T> {
  return TRACER.startActiveSpan(name, options, above, async (span) => {
    try {
      const value = await task();
      add(span, factsOf?.(value) ?? {});
      return value;
    } catch (error) {
      // The message may contain text that people wrote, so only the code is exported.
      add(span, { 'error.type': errorOf(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

function add(span: Span, facts: Facts): void {
  span.setAttributes({ ...facts });
  if ('error.type' in facts) span.setStatus({ code: SpanStatusCode.ERROR });
}
