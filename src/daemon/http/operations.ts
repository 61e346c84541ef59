import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { closeApp, listenOn } from '../../platform/http-server.js';
import type { Log } from '../../platform/log.js';
import { Metrics } from '../metrics/metrics.js';
import { startNotifications } from '../notify/notifications.js';
import type { NotifyTarget } from '../notify/target.js';
import type { DaemonControls, DaemonView } from '../view.js';
import { Access, challengeOf } from './access.js';
import { addApproveRoute } from './approve-route.js';
import { addControlRoutes } from './control-routes.js';
import { addViewRoutes } from './view-routes.js';
import { addWebhookRoute } from './webhook.js';
import { Refusal } from './http-error.js';

export interface OperationsOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  /** Tokens of the write endpoints, one a line; absent: they are off. */
  readonly tokenFile?: string | undefined;
  /** Whether one of those tokens is needed to look; default: nobody needs one. */
  readonly isPrivate?: boolean | undefined;
  /** Secrets of webhooks, one a line; absent: they are off. */
  readonly webhookSecretFile?: string | undefined;
  readonly notify?: readonly NotifyTarget[] | undefined;
  /** The one whose `traffic` the clients of the service feed. */
  readonly metrics?: Metrics | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** Within which a request has come whole, its body too. Default: 30 s. */
  readonly requestTimeoutMs?: number | undefined;
}

export interface Operations {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly url: string;
  /** Ends within seconds, and gives up notifications that are still on their way. May be called again. */
  readonly close: () => Promise<void>;
}

/**
 * What people and machines see of the daemon: pages, health, metrics, endpoints that ask something of it, webhooks, and
 * the messages that go out.
 *
 * @throws FlagkeelError (IN_USE) the port is taken.
 */
export async function startOperations(
  view: DaemonView,
  controls: DaemonControls,
  options: OperationsOptions,
): Promise<Operations> {
  const { log, now = Date.now, metrics = new Metrics() } = options;
  const app = createApp(log, options.requestTimeoutMs ?? REQUEST_WITHIN_MS);
  const { tokenFile, webhookSecretFile: secretFile } = options;
  const access = new Access(tokenFile);
  if (options.isPrivate === true) app.addHook('onRequest', async (request) => access.look(request));
  addViewRoutes(app, { view, metrics, now, takesRequests: tokenFile !== undefined });
  addEvents(app, view);
  // Each in a scope of its own: their hooks and bodies are not those of the pages.
  void app.register((scope, _, done) => {
    addControlRoutes(scope, { view, controls, access, log, now });
    addApproveRoute(scope, { view, controls, access, log, now });
    done();
  });
  void app.register((scope, _, done) => {
    addWebhookRoute(scope, { view, controls, secretFile, metrics, log, now });
    done();
  });
  const url = await listenOn(app, options.host ?? '127.0.0.1', options.port);
  const stopCounting = view.onRun((source, run) => {
    metrics.noteRun(source, run);
  });
  const notifications = startNotifications(view, options.notify ?? [], { log, metrics });
  let closed: Promise<unknown> | undefined;
  return {
    url,
    close: async () => {
      stopCounting();
      closed ??= Promise.all([closeApp(app, CLOSE_WITHIN_MS), notifications.close()]);
      await closed;
    },
  };
}

/** Every answer is made in far less. */
const CLOSE_WITHIN_MS = 1_000;

/** Ids of runs are far shorter. */
const MAX_PARAM_LENGTH = 200;

/** Forges give a delivery up after ten seconds. What drips would otherwise hold its connection and its body for ever. */
const REQUEST_WITHIN_MS = 30_000;

/** How often connections are looked at for requests that take too long. */
const LOOK_EVERY_MS = 1_000;

function createApp(log: Log, requestTimeout: number): FastifyInstance {
  const app = Fastify({
    requestTimeout,
    http: {
      // Node takes the larger of the two for the request, and its own default of this one is a minute.
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
    // Of requests that nobody vouches for, only ours are worth a line.
    if (status >= 500) log.error({ error, path: request.url.split('?')[0] }, 'request failed');
    // A browser asks its user for a name and a password, and the password is the token.
    if (status === 401) void reply.header('www-authenticate', challengeOf(request));
    const message = status === 500 ? 'internal error' : error.message;
    return reply.code(status).send({ error: message });
  });
  app.setNotFoundHandler(async (_, reply) =>
    reply.code(404).send({ error: 'there is no such page' }),
  );
  return app;
}

const MOST_LISTENERS = 100;
/** Changes come in bursts while a run goes on; a page need not be drawn for each. */
const GATHER_MS = 250;
/** Proxies close what is silent for long. */
const BEAT_MS = 20_000;

/** `GET /events`: says `change` whenever the status page would look different, and nothing else. */
function addEvents(app: FastifyInstance, view: DaemonView): void {
  const listeners = new Set<ServerResponse>();
  let gathering: NodeJS.Timeout | undefined;
  const say = (text: string): void => {
    for (const listener of listeners) listener.write(text);
  };
  const stop = view.onChange(() => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      say('event: change\ndata:\n\n');
    }, GATHER_MS);
  });
  const beat = setInterval(() => {
    say(': still here\n\n');
  }, BEAT_MS);
  // Before the server waits for its answers to end: these never would.
  app.addHook('preClose', (done) => {
    stop();
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
