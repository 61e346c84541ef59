import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { API_PREFIX, type WireError } from '../../admin-api/wire.js';
import type { ServiceMetrics } from '../metrics.js';
import { keyFromHeaders, callerWith, type KeyCheck, type KeyCheckParts } from './key-check.js';
import { requestCounter, type RateLimit } from '../rules/rate-limit.js';
import { compileSchema, describeShapeErrors, type Schema } from '../rules/shape.js';
import { noteFrom } from '../rules/members.js';
import type { AdminKeyRow } from '../store/tables.js';
import { takeAnyBody } from './bodies.js';
import { refuseBrokenRequest } from './broken-request.js';
import { DOCS_POLICY, docsPageOf } from './docs-page.js';
import type { ApiRequest, Endpoint } from './endpoint.js';
import { API_TITLE, checkOfRest, openApiOf } from './openapi.js';
import { badRequest, Problem, storeProblem, unauthorised } from './problem.js';

/** Adds routes that check keys by themselves. */
export type AddRoutes = (
  app: FastifyInstance,
  parts: Pick<AppOptions, 'store' | 'keys' | 'cache' | 'clock'>,
) => void;

export interface AppOptions extends KeyCheckParts {
  readonly endpoints: readonly Endpoint[];
  readonly keys: KeyCheck;
  /** Accepts keys in the contract's header only, and serves no `/docs` for people. */
  readonly strict: boolean;
  /** Without it the service counts nothing and has no `/metrics`. */
  readonly metrics?: ServiceMetrics | undefined;
  readonly console?: AddRoutes | undefined;
  readonly applications?: AddRoutes | undefined;
  /** The limit of all requests with a key together, and of those of each address. Default: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Sees every request before the service. */
  readonly middleware?: ((next: RequestListener) => RequestListener) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    adminKey: AdminKeyRow | null;
  }
  interface FastifyContextConfig {
    /** The service answers these routes without a key. */
    isPublic?: boolean;
    takesText?: boolean;
    takesFile?: boolean;
  }
}

/** The version of the interface, as the contract's path prefix has it. */
const VERSION = '2';
/** Enough for the largest definition. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Enough for ten thousand keys of the greatest length, in ASCII. */
const MAX_MANY_BYTES = 16 * 1024 * 1024;
/** The service answers 414 if a part of the path is longer. */
const MAX_NAME_BYTES = 4_000;
/** Longer than clients keep an idle connection: a request could arrive on one that the service is closing. */
const KEEP_ALIVE_MS = 72_000;

/** Without a header `Host`, Node would answer by itself, with an empty body. */
const SERVER = { keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false };

export function createApp(options: AppOptions): FastifyInstance {
  const { middleware = (next: RequestListener) => next } = options;
  const answers = new WeakMap<Socket, ServerResponse>();
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_NAME_BYTES },
    serverFactory: (handler) => {
      const next = middleware(handler);
      return createServer(SERVER, (request, response) => {
        answers.set(request.socket, response);
        next(request, response);
      });
    },
    clientErrorHandler: (error, socket) => {
      refuseBrokenRequest(error, socket, { answer: answers.get(socket), log: options.log });
    },
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply, options);
    },
  });
  takeAnyBody(app);
  app.setValidatorCompiler(({ schema }) => compileSchema(schema as Schema));
  app.setSchemaErrorFormatter((errors) =>
    badRequest(describeShapeErrors(errors as Parameters<typeof describeShapeErrors>[0], 'Body')),
  );
  app.decorateRequest('adminKey', null);
  app.addHook('onRequest', ({ raw }, _, done) => {
    const lacksHost = raw.httpVersion === '1.1' && raw.headers.host === undefined;
    done(lacksHost ? badRequest('The request has no header Host') : undefined);
  });
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isPublic === true) return;
    request.adminKey = await options.keys.byText(keyFromHeaders(request.headers, options.strict));
  });
  app.addHook('onClose', async () => options.keys.settled());
  limitRequests(app, options);
  app.setErrorHandler((error: FastifyError | Problem, request, reply) =>
    answerError(error, request, reply, options),
  );
  // This runs before the framework looks at the body, because it demands one for some methods.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const path = request.url.split('?')[0] ?? '';
    const methods = methodsOf(path, options.endpoints);
    if (methods.length > 0) void reply.header('allow', methods.join(', '));
    throw new Problem(methods.length > 0 ? 405 : 404, `There is no ${request.method} ${path}`);
  });
  noteAnswers(app, options);
  addPublicPages(app, options);
  options.console?.(app, options);
  options.applications?.(app, options);
  for (const endpoint of options.endpoints) addEndpoint(app, endpoint, options);
  return app;
}

/** In alphabetical order. Where several patterns match, the one with more fixed words counts. */
function methodsOf(path: string, endpoints: readonly Endpoint[]): string[] {
  const parts = path.replace(/\/$/, '').split('/');
  const named = endpoints.filter((endpoint) => {
    const pattern = `${API_PREFIX}${endpoint.path}`.split('/');
    return (
      pattern.length === parts.length &&
      pattern.every((part, index) => part.startsWith(':') || part === parts[index])
    );
  });
  const fewest = Math.min(...named.map(({ path }) => path.split('/:').length));
  const meant = named.filter((endpoint) => endpoint.path.split('/:').length === fewest);
  const all = meant.flatMap(({ methods }): string[] => [...methods]);
  return [...new Set(all.includes('GET') ? [...all, 'HEAD'] : all)].sort();
}

/** In the access log the query, which may hold title and comment, is left out. */
function noteAnswers(app: FastifyInstance, { metrics, store, log }: AppOptions): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const { statusCode: status, elapsedTime: durationMs } = reply;
    metrics?.noteAnswer(method, routeOptions.url, status, durationMs);
    log?.info(
      {
        method,
        path: request.url.split('?')[0],
        status,
        durationMs: Math.round(durationMs),
        key: request.adminKey?.name,
        transactionId: request.id,
      },
      'request',
    );
    done();
  });
  if (metrics === undefined) return;
  app.get('/metrics', { config: { isPublic: true } }, async (_, reply) =>
    reply.type(metrics.contentType).send(await metrics.text(store)),
  );
}

function addPublicPages(app: FastifyInstance, { endpoints, strict, store }: AppOptions): void {
  const config = { isPublic: true };
  app.get('/openapi.json', { config }, () => openApiOf(endpoints, VERSION));
  app.get('/health', { config }, async () => {
    await store.ping();
    return { status: 'ok' };
  });
  if (strict) return;
  let page: string | undefined;
  app.get('/docs', { config }, async (_, reply) =>
    reply
      .headers({ 'content-security-policy': DOCS_POLICY, 'x-content-type-options': 'nosniff' })
      .type('text/html; charset=utf-8')
      .send((page ??= docsPageOf(endpoints, API_TITLE))),
  );
}

/** Counts the requests with a valid key. The contract shows no limits; the headers follow public documentation. */
function limitRequests(app: FastifyInstance, { rateLimit, clock }: AppOptions): void {
  if (rateLimit === undefined) return;
  const together = requestCounter(rateLimit);
  const byAddress = requestCounter(rateLimit);
  app.addHook('onRequest', async (request, reply) => {
    if (request.adminKey === null) return;
    const now = clock();
    const all = together('', now);
    const own = byAddress(request.ip, now);
    void reply.headers({
      'x-ratelimit-remaining-org': all.remaining,
      'x-ratelimit-remaining-ip': own.remaining,
      'x-ratelimit-reset-seconds-org': all.resetSeconds,
      'x-ratelimit-reset-seconds-ip': own.resetSeconds,
    });
    if (all.allowed && own.allowed) return;
    void reply.header('retry-after', Math.max(all.resetSeconds, own.resetSeconds));
    throw new Problem(429, 'TOO_MANY_REQUESTS');
  });
}

function addEndpoint(
  app: FastifyInstance,
  endpoint: Endpoint,
  { store, cache, clock, strict }: AppOptions,
): void {
  const lookUp = cache.lookUpWith(store.lookUp);
  const checkRest = checkOfRest(endpoint, strict);
  app.route({
    method: [...endpoint.methods],
    // The router takes any colon for the start of a parameter, and two colons for one.
    url: `${API_PREFIX}${endpoint.path.replaceAll(/(?<=[^/]):/g, '::')}`,
    schema: { summary: endpoint.summary, ...(endpoint.body && { body: endpoint.body }) },
    bodyLimit: endpoint.takesMany === true ? MAX_MANY_BYTES : MAX_BODY_BYTES,
    config: { takesText: endpoint.takesText ?? false, takesFile: endpoint.takesFile ?? false },
    handler: async (request, reply) => {
      checkRest(request);
      const apiRequest = apiRequestOf(request, clock(), strict);
      const answer = async (): Promise<string> => {
        const body =
          'read' in endpoint
            ? ((await endpoint.lookUp?.(lookUp, apiRequest)) ??
              (await store.read(async (db) => endpoint.read(db, apiRequest))))
            : await store.write(async (db) => endpoint.write(db, apiRequest));
        return typeof body === 'string' ? body : JSON.stringify(body);
      };
      const isKept = 'read' in endpoint && endpoint.isReadAnew !== true;
      // Keys see different things, so each key has cached answers of its own.
      const question = `${apiRequest.caller.keyId ?? ''} ${request.url}`;
      const text = isKept ? await cache.recall(question, answer) : await answer();
      return reply.type('application/json; charset=utf-8').send(text);
    },
  });
}

function apiRequestOf(request: FastifyRequest, now: number, isStrict: boolean): ApiRequest {
  const { adminKey, id: transactionId } = request;
  if (adminKey === null) throw unauthorised();
  const query = request.query as Record<string, unknown>;
  // PostgreSQL cannot hold a null character.
  if (request.url.includes('%00')) {
    throw badRequest('Paths and queries must not hold a null character');
  }
  return {
    params: request.params as Record<string, string>,
    query,
    body: request.body,
    isStrict,
    caller: callerWith(adminKey, { note: noteFrom(query, request.body), transactionId, now }),
  };
}

/** The service logs its own faults; the client gets only the transaction id to ask about it. */
function answerError(
  thrown: FastifyError | Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, metrics }: Pick<AppOptions, 'log' | 'metrics'>,
): FastifyReply {
  const failed = storeProblem(thrown);
  if (failed !== undefined) metrics?.noteStoreError();
  const error = failed ?? thrown;
  const status = error instanceof Problem ? error.status : (error.statusCode ?? 500);
  if (status >= 500) {
    const { stack } = error.cause instanceof Error ? error.cause : error;
    log?.error({ error: stack, transactionId: request.id }, 'request failed');
  }
  if (error instanceof Problem && error.bodyless) return reply.code(status).send();
  const body: WireError = {
    code: status,
    message: status < 500 || error instanceof Problem ? error.message : 'Internal error',
    details: error instanceof Problem ? error.details : '',
    transactionId: request.id,
  };
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
