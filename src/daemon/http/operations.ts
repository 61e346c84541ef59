import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { closeApp, listenOn } from '../../platform/http-server.js';
import { isLoopbackHost } from '../../platform/proxy.js';
import type { Log } from '../../platform/log.js';
import { Metrics } from '../metrics/metrics.js';
import type { DaemonView } from '../view.js';
import { Access, challengeOf, Refusal, type Surface } from './access.js';
import { addControlRoutes } from './control-routes.js';
import { addViewRoutes } from './view-routes.js';
import { addWebhookRoute } from './webhook.js';

export interface OperationsOptions {
  readonly host?: string | undefined;
  readonly port: number;
  /** Names, beside those of loopback, that requests to a loopback address may give as their host. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** One token a line. Without it the write endpoints are off. */
  readonly tokenFile?: string | undefined;
  /** Whether reading needs one of those tokens too. Default: false. */
  readonly isPrivate?: boolean | undefined;
  /** One secret a line. Without it webhooks are off. */
  readonly webhookSecretFile?: string | undefined;
  /** Metrics whose `traffic` the clients of the service update. */
  readonly metrics?: Metrics | undefined;
  readonly log: Log;
  readonly now?: (() => number) | undefined;
  /** Limit for receiving a whole request, body included. Default: 30 s. */
  readonly requestTimeoutMs?: number | undefined;
}

export interface Operations {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** @throws FlagkeelError `IN_USE`, `USAGE` */
export async function startOperations(
  daemon: Surface['daemon'],
  options: OperationsOptions,
): Promise<Operations> {
  const { log, now = Date.now, metrics = new Metrics() } = options;
  const app = createApp(log, options.requestTimeoutMs ?? REQUEST_WITHIN_MS);
  const { tokenFile, webhookSecretFile: secretFile, host = '127.0.0.1', allowedHosts } = options;
  if (isLoopbackHost(host)) refuseForeignHosts(app, allowedHosts ?? []);
  const access = new Access(tokenFile);
  const surface = { daemon, access, metrics, log, now };
  if (options.isPrivate === true) app.addHook('onRequest', async (request) => access.look(request));
  addViewRoutes(app, surface, tokenFile !== undefined);
  addEvents(app, daemon);
  // Each group has its own scope, so that its hooks and body parsers do not apply to the pages.
  void app.register((scope, _, done) => {
    addControlRoutes(scope, surface);
    done();
  });
  void app.register((scope, _, done) => {
    addWebhookRoute(scope, surface, secretFile);
    done();
  });
  const url = await listenOn(app, host, options.port);
  const countRun = metrics.noteRun.bind(metrics);
  daemon.events.on('end', countRun);
  let closed: Promise<void> | undefined;
  return {
    url,
    close: async () => {
      daemon.events.off('end', countRun);
      closed ??= closeApp(app, CLOSE_WITHIN_MS);
      await closed;
    },
  };
}

const CLOSE_WITHIN_MS = 1_000;

const MAX_PARAM_LENGTH = 200;

/** Forges give up after ten seconds. Without a limit a slow sender would hold its connection and body for ever. */
const REQUEST_WITHIN_MS = 30_000;

const LOOK_EVERY_MS = 1_000;

function createApp(log: Log, requestTimeout: number): FastifyInstance {
  const app = Fastify({
    requestTimeout,
    http: {
      // Node applies the larger of the two to the request, and this one defaults to a minute.
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, requestTimeout),
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });
  app.addHook('onRequest', (_, reply, done) => {
    void reply.headers({
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    done();
  });
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    // Logs only our own errors: a client can cause the others without a token, and could fill the log.
    if (status >= 500) log.error({ error, path: request.url.split('?')[0] }, 'request failed');
    // A browser asks its user for a name and a password; the password is the token.
    if (status === 401) void reply.header('www-authenticate', challengeOf(request));
    const message = status === 500 ? 'internal error' : error.message;
    return reply.code(status).send({ error: message });
  });
  app.setNotFoundHandler(async (_, reply) =>
    reply.code(404).send({ error: 'there is no such page' }),
  );
  return app;
}

/**
 * Refuses requests for other names than loopback's. A page of another site could make its own name stand for 127.0.0.1,
 * and a browser would then let it read what the daemon answers.
 */
function refuseForeignHosts(app: FastifyInstance, allowed: readonly string[]): void {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  app.addHook('onRequest', (request, _, done) => {
    const { host } = request.headers;
    const name = hostnameOf(host ?? 'localhost');
    const isKnown = name !== null && (isLoopbackHost(name) || names.has(name));
    done(isKnown ? undefined : new Refusal(421, FOREIGN_HOST));
  });
}

const FOREIGN_HOST =
  'cannot answer for that host: the daemon listens on loopback (start it with --allow-host NAME if a proxy passes this name on)';

function hostnameOf(host: string): string | null {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : null;
}

const MOST_LISTENERS = 100;
/** Changes come in bursts during a run. */
const GATHER_MS = 250;
/** Proxies close connections that stay silent for long. */
const BEAT_MS = 20_000;

/** `GET /events`: sends only `change`, whenever the status page would look different. */
function addEvents(app: FastifyInstance, { events }: DaemonView): void {
  const listeners = new Set<ServerResponse>();
  let gathering: NodeJS.Timeout | undefined;
  const say = (text: string): void => {
    for (const listener of listeners) listener.write(text);
  };
  const gather = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      say('event: change\ndata:\n\n');
    }, GATHER_MS);
  };
  events.on('change', gather);
  const beat = setInterval(() => {
    say(': still here\n\n');
  }, BEAT_MS);
  // Runs before the server waits for open answers: these never end by themselves.
  app.addHook('preClose', (done) => {
    events.off('change', gather);
    clearTimeout(gathering);
    clearInterval(beat);
    for (const listener of listeners) listener.end();
    done();
  });
  app.get('/events', (_, reply) => {
    if (listeners.size >= MOST_LISTENERS) {
      throw new Refusal(503, 'cannot follow: too many pages are open already');
    }
    reply.hijack();
    const response = reply.raw;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 3000\n\n');
    listeners.add(response);
    response.on('close', () => {
      listeners.delete(response);
    });
  });
}
