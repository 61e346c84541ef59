import type { RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { closeApp, listenOn } from '../platform/http-server.js';
import { Problem } from './http/problem.js';
import { administrationOf, refusedByRules, type Administration } from './administration.js';
import { createApp, type AddConsole } from './http/app.js';
import type { Endpoint } from './http/endpoint.js';
import { EphemeralKeys, type ServiceLog } from './http/key-check.js';
import { wideKeys } from './key-reach.js';
import type { ServiceMetrics } from './metrics.js';
import { expireChangeRequests, REQUESTS_EXPIRE_AFTER_MS } from './request-expiry.js';
import type { RateLimit } from './rules/rate-limit.js';
import { ADMIN_KEY_ENDPOINTS, AUDIT_ENDPOINTS } from './routes/access.js';
import { CHANGE_REQUEST_ENDPOINTS } from './routes/change-requests.js';
import { DEFINITION_ENDPOINTS } from './routes/definitions.js';
import { ATTRIBUTE_ENDPOINTS } from './routes/attributes.js';
import { ARCHIVE_ENDPOINTS } from './routes/archive.js';
import { FLAG_ENDPOINTS } from './routes/flags.js';
import { IDENTITY_ENDPOINTS } from './routes/identities.js';
import { SEGMENT_KEY_ENDPOINTS } from './routes/segment-keys.js';
import { SEGMENT_ENDPOINTS } from './routes/segments.js';
import { ENVIRONMENT_CHANGE_ENDPOINTS } from './routes/environment-changes.js';
import { WORKSPACE_CHANGE_ENDPOINTS } from './routes/workspace-changes.js';
import { WORKSPACE_ENDPOINTS } from './routes/workspaces.js';
import { plantSeed, type Seed } from './seed.js';
import { openStore, type Store, type StoreLocation } from './store/store.js';

/** The store and the settings of a service. */
export interface ServiceOptions {
  readonly store: StoreLocation;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Answers only what the contract shows. */
  readonly strict?: boolean;
  readonly seed: Seed;
  readonly log?: ServiceLog;
  /** Default: no metrics, and no `/metrics`. */
  readonly metrics?: ServiceMetrics | undefined;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly clock?: () => number;
  /** Adds pages for people. Default: none. */
  readonly console?: AddConsole | undefined;
  /** The limit of all requests with a key together, and of those of each address. Default: no limit. */
  readonly rateLimit?: RateLimit;
  /** Change requests that stay open for longer are withdrawn, in milliseconds. Default: 30 days. */
  readonly requestsExpireAfterMs?: number | undefined;
  /** Runs between the socket and the service, and sees every request first. */
  readonly middleware?: (next: RequestListener) => RequestListener;
}

/** A running service, with the operations that need no HTTP. */
export interface RunningService extends Administration {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly origin: string;
  /**
   * Makes an Admin API key that may do everything. It exists in memory alone and ends with the service. The audit log
   * shows its name for changes that are made with it.
   */
  lendKey(name: string): string;
  /** Finishes the requests under way, then closes the store. May be called again. */
  stop(): Promise<void>;
}

/** All endpoints, in the order of the service's description. */
const ENDPOINTS: readonly Endpoint[] = [
  ...WORKSPACE_ENDPOINTS,
  ...WORKSPACE_CHANGE_ENDPOINTS,
  ...ENVIRONMENT_CHANGE_ENDPOINTS,
  ...ATTRIBUTE_ENDPOINTS,
  ...FLAG_ENDPOINTS,
  ...ARCHIVE_ENDPOINTS,
  ...DEFINITION_ENDPOINTS,
  ...SEGMENT_ENDPOINTS,
  ...SEGMENT_KEY_ENDPOINTS,
  ...IDENTITY_ENDPOINTS,
  ...CHANGE_REQUEST_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
];

/** The contract's endpoints, which take only the contract's forms of requests. */
function strictEndpoints(): readonly Endpoint[] {
  return ENDPOINTS.flatMap(({ contract, ...endpoint }) => {
    if (contract === undefined) return [];
    const { query: _query, body: _body, ...rest } = endpoint;
    return [{ ...rest, ...contract, takesText: false, takesFile: false }];
  });
}

/** Connections that are still open after this time are cut off. */
const STOP_WITHIN_MS = 5_000;

/**
 * Starts the administration service: opens the store, adds the parts of the seed that it lacks, and listens.
 *
 * @throws FlagkeelError (IN_USE) another process has the store open.
 * @throws FlagkeelError (IN_USE) the port is taken.
 * @throws FlagkeelError (STATE_UNREADABLE) the store cannot be opened.
 * @throws FlagkeelError (USAGE) the rules refuse a part of the seed.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const clock = options.clock ?? Date.now;
  const store = await openStore(options.store);
  try {
    await store.write(async (db) => plantSeed(db, options.seed, clock()));
    for (const key of await store.read(async (db) => wideKeys(db, clock()))) {
      options.log?.warn({ ...key }, 'an Admin API key reaches more than its restrictions named');
    }
    const lentKeys = new EphemeralKeys();
    const app = createApp({
      store,
      clock,
      lentKeys,
      strict: options.strict === true,
      endpoints: options.strict === true ? strictEndpoints() : ENDPOINTS,
      log: options.log,
      metrics: options.metrics,
      console: options.console,
      rateLimit: options.rateLimit,
      middleware: options.middleware,
    });
    const { host = '127.0.0.1', port = 0 } = options;
    const origin = await listenOn(app, host, port);
    const stopExpiry = expireChangeRequests({
      store,
      clock,
      afterMs: options.requestsExpireAfterMs ?? REQUESTS_EXPIRE_AFTER_MS,
      log: options.log,
    });
    let stopped: Promise<void> | undefined;
    return {
      origin,
      lendKey: (name) => lentKeys.lend(name, clock()),
      ...administrationOf(store, clock),
      stop: async () => {
        stopped ??= stop(app, store, stopExpiry);
        return stopped;
      },
    };
  } catch (error) {
    await store.close();
    throw error instanceof Problem ? refusedByRules(error) : error;
  }
}

/** Closes the store even if closing the server fails. */
async function stop(
  app: FastifyInstance,
  store: Store,
  stopExpiry: () => Promise<void>,
): Promise<void> {
  try {
    await stopExpiry();
    await closeApp(app, STOP_WITHIN_MS);
  } finally {
    await store.close();
  }
}
