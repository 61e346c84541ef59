import type { RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { closeApp, listenOn } from '../http-server.js';
import { Problem } from './problem.js';
import { administrationOf, refusedByRules, type Administration } from './administration.js';
import { createApp, type ServiceLog } from './app.js';
import type { Endpoint } from './endpoint.js';
import { LentKeys } from './lent-keys.js';
import type { RateLimit } from './rules/rate-limit.js';
import { ADMIN_KEY_ENDPOINTS } from './routes/admin-keys.js';
import { AUDIT_ENDPOINTS } from './routes/audit.js';
import { DEFINITION_ENDPOINTS } from './routes/definitions.js';
import { FLAG_ENDPOINTS } from './routes/flags.js';
import { IDENTITY_ENDPOINTS } from './routes/identities.js';
import { SEGMENT_KEY_ENDPOINTS } from './routes/segment-keys.js';
import { SEGMENT_ENDPOINTS } from './routes/segments.js';
import { ENVIRONMENT_CHANGE_ENDPOINTS } from './routes/environment-changes.js';
import { WORKSPACE_CHANGE_ENDPOINTS } from './routes/workspace-changes.js';
import { WORKSPACE_ENDPOINTS } from './routes/workspaces.js';
import { plantSeed, type Seed } from './seed.js';
import { openStore, type Store, type StoreLocation } from './store/store.js';

export interface ServiceOptions {
  readonly store: StoreLocation;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Answers what the contract shows and nothing else. */
  readonly strict?: boolean;
  readonly seed: Seed;
  readonly log?: ServiceLog;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly clock?: () => number;
  /** Of all requests with a key together, and of those of each address. Default: none. */
  readonly rateLimit?: RateLimit;
  /** Stands between the socket and the service and sees every request first. */
  readonly middleware?: (next: RequestListener) => RequestListener;
}

export interface RunningService extends Administration {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly origin: string;
  /**
   * Makes an Admin API key that may do everything, is in memory alone, and ends with the service. Nothing of it is
   * stored; what is changed with it bears its name in the audit log.
   */
  lendKey(name: string): string;
  /** Answers what is under way, then closes the store. May be called again. */
  stop(): Promise<void>;
}

const ENDPOINTS: readonly Endpoint[] = [
  ...WORKSPACE_ENDPOINTS,
  ...WORKSPACE_CHANGE_ENDPOINTS,
  ...ENVIRONMENT_CHANGE_ENDPOINTS,
  ...FLAG_ENDPOINTS,
  ...DEFINITION_ENDPOINTS,
  ...SEGMENT_ENDPOINTS,
  ...SEGMENT_KEY_ENDPOINTS,
  ...IDENTITY_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
];

const STOP_WITHIN_MS = 5_000;

/**
 * Starts the administration service: opens the store, adds what the seed names and the store lacks, and listens.
 *
 * @throws FlaghoistError (IN_USE) another process has the store open.
 * @throws FlaghoistError (IN_USE) the port is taken.
 * @throws FlaghoistError (STATE_UNREADABLE) the store cannot be opened.
 * @throws FlaghoistError (USAGE) the seed names what the rules refuse.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const clock = options.clock ?? Date.now;
  const store = await openStore(options.store);
  try {
    await store.write(async (db) => plantSeed(db, options.seed, clock()));
    const lentKeys = new LentKeys();
    const app = createApp({
      store,
      clock,
      lentKeys,
      showsDocs: options.strict !== true,
      endpoints: ENDPOINTS.filter(({ inContract }) => inContract || options.strict !== true),
      log: options.log,
      rateLimit: options.rateLimit,
      middleware: options.middleware,
    });
    const { host = '127.0.0.1', port = 0 } = options;
    const origin = await listenOn(app, host, port);
    let stopped: Promise<void> | undefined;
    return {
      origin,
      lendKey: (name) => lentKeys.lend(name, clock()),
      ...administrationOf(store, clock),
      stop: async () => {
        stopped ??= stop(app, store);
        return stopped;
      },
    };
  } catch (error) {
    await store.close();
    throw error instanceof Problem ? refusedByRules(error) : error;
  }
}

async function stop(app: FastifyInstance, store: Store): Promise<void> {
  try {
    await closeApp(app, STOP_WITHIN_MS);
  } finally {
    await store.close();
  }
}
