import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp, type ServiceLog } from './app.js';
import type { Endpoint } from './endpoint.js';
import { AUDIT_ENDPOINTS } from './routes/audit.js';
import { DEFINITION_ENDPOINTS } from './routes/definitions.js';
import { FLAG_ENDPOINTS } from './routes/flags.js';
import { IDENTITY_ENDPOINTS } from './routes/identities.js';
import { SEGMENT_KEY_ENDPOINTS } from './routes/segment-keys.js';
import { SEGMENT_ENDPOINTS } from './routes/segments.js';
import { WORKSPACE_ENDPOINTS } from './routes/workspaces.js';
import { createAdminKey } from './rules/admin-key.js';
import { plantSeed, type Seed } from './seed.js';
import { insertAdminKey } from './store/admin-keys.js';
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
  /** Stands between the socket and the service and sees every request first. */
  readonly middleware?: (next: RequestListener) => RequestListener;
}

export interface RunningService {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly origin: string;
  /** Makes an Admin API key that may do everything. It cannot be shown again. */
  createKey(name: string): Promise<string>;
  /** The newest 1,000 changes, the newest first. */
  audit(filter?: AuditFilter): Promise<readonly AuditEntry[]>;
  /** Answers what is under way, then closes the store. May be called again. */
  stop(): Promise<void>;
}

const ENDPOINTS: readonly Endpoint[] = [
  ...WORKSPACE_ENDPOINTS,
  ...FLAG_ENDPOINTS,
  ...DEFINITION_ENDPOINTS,
  ...SEGMENT_ENDPOINTS,
  ...SEGMENT_KEY_ENDPOINTS,
  ...IDENTITY_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
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
      middleware: options.middleware,
    });
    await app.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' });
    const { address, port, family } = app.server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    let stopped: Promise<void> | undefined;
    return {
      origin: `http://${host}:${port}`,
      createKey: async (name) => createKey(store, name, clock()),
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

async function createKey(store: Store, name: string, now: number): Promise<string> {
  const { id, key, hash } = createAdminKey(randomBytes);
  await store.write(async (db) =>
    insertAdminKey(db, {
      id,
      name,
      hash,
      creation_time: now,
      revocation_time: null,
      workspaces_json: null,
      environments_json: null,
    }),
  );
  return key;
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
