import { randomUUID } from 'node:crypto';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, SpanOptions } from '@opentelemetry/api';
import { EXIT, FlagkeelError } from '../errors.js';
import type { Method } from './http-client.js';
import { packageVersion } from './version.js';

/** What a span says: plain values, and never a secret, a key or a text that a person wrote. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

type Environment = Readonly<Record<string, string | undefined>>;

export interface TracedRun {
  /** Of the command. */
  readonly name: string;
  /** Which specs are run: a name, or a directory. */
  readonly source: string;
  /** That of the log. Default: a new one. */
  readonly id?: string;
  /** Where `TRACEPARENT` may name a span, of a CI job say, below which the run stands. Default: the run begins a trace. */
  readonly environment?: Environment;
}

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  /** In a word of the daemon's results; `planned` where nothing was to be written, `done` where there is no plan by nature. */
  readonly result: string;
  /** What ended it: a code, or what was thrown. */
  readonly error?: unknown;
}

/** Without an SDK, which an operator loads before the program, every span is one that does nothing. */
const TRACER = trace.getTracer('flagkeel', packageVersion());

const VARIABLES = {
  get: (environment: Environment, name: string) => environment[name.toUpperCase()],
  keys: Object.keys,
};

/** Does the work of one run as a span with all that `traced` and `tracedRequest` do below it. */
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

/** With these a run has not failed: it did its work, found what it looks for, or a signal ended it. */
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
 * Does a part of a run as a span below the one that is under way. Outside a run it only does the work: the part would be
 * a trace of its own.
 *
 * @param factsOf what is known of the span by its end; `error.type` is the code of what failed.
 */
export async function traced<T>(
  name: string,
  task: () => Promise<T>,
  facts: Facts = {},
  factsOf?: (value: T) => Facts,
): Promise<T> {
  return partOfRun(name, { attributes: { ...facts } }, { task, factsOf });
}

/** One try of a request. */
export interface TracedRequest {
  readonly method: Method;
  /** The path with `:word` for each name and key in it. */
  readonly route: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Tries of the same request before this one. */
  readonly triesBefore: number;
}

/** Likewise for a request, by the names that OpenTelemetry has. The URL is left out: names and keys stand in it. */
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

/** Says something of the run that is under way, outside of its parts. */
export function noteRun(facts: Facts): void {
  const span = trace.getActiveSpan();
  if (span) add(span, facts);
}

interface Work<T> {
  readonly task: () => Promise<T>;
  readonly factsOf?: ((value: T) => Facts) | undefined;
  /** The code of what `task` throws. */
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
      // Its message may name what people wrote, so that the code alone goes out.
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
