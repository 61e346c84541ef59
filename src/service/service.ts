import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  addAdminKey,
  allAdminKeys,
  removeAdminKey,
  type AdminKey,
  type NewKey,
} from './admin-keys.js';
import { createApp, type ServiceLog } from './app.js';
import type { Caller, Endpoint } from './endpoint.js';
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
import { listAudit, type AuditEntry, type AuditFilter } from './store/audit.js';
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

export interface RunningService {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly origin: string;
  /** Makes an Admin API key, by default one that may do everything. It cannot be shown again. */
  createKey(name: string, restrictions?: Omit<NewKey, 'name'>): Promise<string>;
  /** In the order of their creation, those that were revoked too. */
  listKeys(): Promise<readonly AdminKey[]>;
  revokeKey(id: string): Promise<void>;
  /** The newest 1,000 changes, the newest first. */
  audit(filter?: AuditFilter): Promise<readonly AuditEntry[]>;
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
 * @throws FlaghoistError (STATE_UNREADABLE) the store cannot be opened.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const clock = options.clock ?? Date.now;
  const store = await openStore(options.store);
  try {
    await store.write(async (db) => plantSeed(db, options.seed, clock()));
    const app = createApp({
      store,
      clock,
      endpoints: ENDPOINTS.filter(({ inContract }) => inContract || options.strict !== true),
      log: options.log,
      rateLimit: options.rateLimit,
      middleware: options.middleware,
    });
    await app.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' });
    const { address, port, family } = app.server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    let stopped: Promise<void> | undefined;
    return {
      origin: `http://${host}:${port}`,
      createKey: async (name, restrictions = {}) => {
        const created = await store.write(async (db) =>
          addAdminKey(db, operator(clock()), { ...restrictions, name }),
        );
        return created.key;
      },
      listKeys: async () => store.read(allAdminKeys),
      revokeKey: async (id) => store.write(async (db) => removeAdminKey(db, operator(clock()), id)),
      audit: async (filter = {}) => newestChanges(store, filter),
      stop: async () => {
        stopped ??= stop(app, store);
        return stopped;
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whoever holds the store itself: the command, and the process that embeds the service. */
function operator(now: number): Caller {
  return {
    keyName: 'operator',
    scope: { workspaces: null, environments: null },
    words: { title: null, comment: null },
    transactionId: randomUUID(),
    now,
  };
}

async function newestChanges(store: Store, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const { entries } = await store.read(async (db) =>
    listAudit(db, filter, { offset: 0, limit: 1_000 }),
  );
  return entries;
}

async function stop(app: ReturnType<typeof createApp>, store: Store): Promise<void> {
  // A client that keeps its connection busy cannot keep the service from stopping.
  const timer = setTimeout(() => {
    app.server.closeAllConnections();
  }, STOP_WITHIN_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
    await store.close();
  }
}
