import { closeApp, listenOn } from '../platform/http-server.js';
import { Problem } from './http/problem.js';
import { callerWithoutKey, pruneAudit } from './change-log.js';
import { createApp, type AppOptions } from './http/app.js';
import { endpointsIn, type Endpoint } from './http/endpoint.js';
import { KeyCheck } from './http/key-check.js';
import { responseCache } from './http/response-cache.js';
import {
  wideKeys,
  addAdminKey,
  namedKeys,
  removeAdminKey,
  type NamedKey,
  type NewKey,
} from './admin-keys.js';
import { FlagkeelError } from '../errors.js';
import type { Page } from './rules/members.js';
import { ADMIN_KEY_ENDPOINTS, AUDIT_ENDPOINTS } from './routes/access.js';
import { CHANGE_REQUEST_ENDPOINTS } from './routes/change-requests.js';
import { withdrawOlderThan } from './routes/decisions.js';
import { DEFINITION_ENDPOINTS } from './routes/definitions.js';
import { ATTRIBUTE_ENDPOINTS } from './routes/attributes.js';
import { FLAG_ENDPOINTS } from './routes/flags.js';
import { IDENTITY_ENDPOINTS } from './routes/identities.js';
import { SEGMENT_ENDPOINTS } from './routes/segments.js';
import { WORKSPACE_ENDPOINTS } from './routes/workspaces.js';
import { plantSeed, type Seed } from './seed.js';
import { listAudit, oldAuditEntries, type AuditEntry, type AuditFilter } from './store/audit.js';
import { openChangeRequestsBefore } from './store/change-requests.js';
import { openStore, type Store, type StoreLocation } from './store/store.js';

export interface ServiceOptions extends Pick<
  AppOptions,
  'log' | 'metrics' | 'console' | 'applications' | 'rateLimit' | 'middleware'
> {
  readonly store: StoreLocation;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Answers only what the contract shows. */
  readonly strict?: boolean;
  readonly seed: Seed;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly clock?: () => number;
  /** Change requests that stay open for longer are withdrawn, in milliseconds. Default: 30 days. */
  readonly requestsExpireAfterMs?: number | undefined;
  /** Entries of the audit log that are older are deleted once a day, in milliseconds. Default: they stay. */
  readonly logExpiresAfterMs?: number | undefined;
}

export interface RunningService extends Administration {
  /** `http://HOST:PORT`, without a slash at the end. */
  readonly origin: string;
  /** Makes an Admin API key as `KeyCheck.lend`. The audit log shows its name. */
  lendKey(name: string): string;
  /** Finishes the requests under way, then closes the store. May be called again. */
  stop(): Promise<void>;
}

const ENDPOINTS: readonly Endpoint[] = endpointsIn({
  ...WORKSPACE_ENDPOINTS,
  ...ATTRIBUTE_ENDPOINTS,
  ...FLAG_ENDPOINTS,
  ...DEFINITION_ENDPOINTS,
  ...SEGMENT_ENDPOINTS,
  ...IDENTITY_ENDPOINTS,
  ...CHANGE_REQUEST_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
});

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
 * Opens the store, adds the parts of the seed that it lacks, and listens.
 *
 * @throws FlagkeelError (IN_USE) another process has the store open, or the port is taken; (STATE_UNREADABLE) the store
 * cannot be opened; (USAGE) the rules refuse a part of the seed.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const clock = options.clock ?? Date.now;
  const store = await openStore(options.store);
  try {
    await store.write(async (db) => plantSeed(db, options.seed, clock()));
    for (const key of await store.read(async (db) => wideKeys(db, clock()))) {
      options.log?.warn({ ...key }, 'an Admin API key reaches more than its restrictions named');
    }
    const cache = responseCache(store);
    const keys = new KeyCheck({ store, cache, clock, log: options.log });
    const app = createApp({
      ...options,
      store,
      clock,
      keys,
      cache,
      strict: options.strict === true,
      endpoints: options.strict === true ? strictEndpoints() : ENDPOINTS,
    });
    const { host = '127.0.0.1', port = 0 } = options;
    const origin = await listenOn(app, host, port);
    const stopUpkeep = keepUp(options, store, clock);
    const stop = async (): Promise<void> => {
      try {
        await stopUpkeep();
        await closeApp(app, STOP_WITHIN_MS);
      } finally {
        await store.close();
      }
    };
    let stopped: Promise<void> | undefined;
    return {
      origin,
      lendKey: (name) => keys.lend(name),
      ...administrationOf(store, clock),
      stop: async () => (stopped ??= stop()),
    };
  } catch (error) {
    await store.close();
    throw error instanceof Problem ? refusedByRules(error) : error;
  }
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Starts what a service does without a request; several services over one store may do so. @returns ends it, and
 * resolves once nothing is under way.
 */
function keepUp(
  { requestsExpireAfterMs = 30 * DAY_MS, logExpiresAfterMs, log }: ServiceOptions,
  store: Store,
  clock: () => number,
): () => Promise<void> {
  const stopping = new AbortController();
  /** Does the work at once and then again and again. If it fails, the next time tries again. */
  const repeat = (everyMs: number, failure: string, work: (now: number) => Promise<void>) => {
    const once = async (): Promise<void> => {
      await work(clock()).catch((error: unknown) => {
        log?.error({ error: String(error) }, failure);
      });
    };
    let working = once();
    const timer = setInterval(() => {
      working = working.then(once);
    }, everyMs).unref();
    return async () => {
      clearInterval(timer);
      await working;
    };
  };
  const unended = 'change requests that expired were not ended';
  const ends = [
    repeat(Math.min(MINUTE_MS, requestsExpireAfterMs), unended, async (now) =>
      expireChangeRequests(store, now, now - requestsExpireAfterMs),
    ),
  ];
  if (logExpiresAfterMs !== undefined) {
    const unpruned = 'old entries of the audit log were not all pruned';
    const every = Math.min(DAY_MS, logExpiresAfterMs);
    ends.push(
      repeat(every, unpruned, async (now) => {
        const before = now - logExpiresAfterMs;
        const caller = callerWithoutKey(OURSELVES, now);
        const isOld = async (): Promise<boolean> =>
          (await store.read(async (db) => oldAuditEntries(db, before))).length > 0;
        while (!stopping.signal.aborted && (await isOld())) {
          await store.write(async (db) => pruneAudit(db, caller, before));
        }
      }),
    );
  }
  return async () => {
    stopping.abort();
    await Promise.all(ends.map(async (end) => end()));
  };
}

/** In the audit log, for changes that nobody asked for. */
const OURSELVES = 'flagkeel service';

/** A forgotten request must not block a definition for ever. */
async function expireChangeRequests(store: Store, now: number, before: number): Promise<void> {
  // A write waits for other writers, so it begins only if there is something to withdraw.
  const old = await store.read(async (db) => openChangeRequestsBefore(db, before));
  if (old.length === 0) return;
  const caller = callerWithoutKey(OURSELVES, now, 'The change request expired');
  await store.write(async (db) => withdrawOlderThan(db, caller, before));
}

/** Operations on the store itself, for its operator: they need neither a key nor HTTP. */
export interface Administration {
  /** Makes an Admin API key, by default one that may do everything. It cannot be shown again. */
  createKey(name: string, restrictions?: Omit<NewKey, 'name'>): Promise<string>;
  listKeys(): Promise<readonly NamedKey[]>;
  revokeKey(id: string): Promise<void>;
  /** The newest entries first. Default: a page of 1,000. */
  audit(filter?: AuditFilter, page?: Page): Promise<readonly AuditEntry[]>;
}

function administrationOf(store: Store, clock: () => number): Administration {
  const operator = () => callerWithoutKey('operator', clock());
  return {
    createKey: async (name, restrictions = {}) =>
      (await store.write(async (db) => addAdminKey(db, operator(), { ...restrictions, name }))).key,
    listKeys: async () => store.read(namedKeys),
    revokeKey: async (id) => store.write(async (db) => removeAdminKey(db, operator(), id)),
    audit: async (filter = {}, page = { offset: 0, limit: 1_000 }) =>
      (await store.read(async (db) => listAudit(db, filter, page))).rows,
  };
}

/**
 * Runs `work` on a store. A service that has the store open notices the changes with its next request.
 *
 * @throws FlagkeelError (USAGE) the rules refuse it.
 */
export async function administer<T>(
  location: StoreLocation,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  const store = await openStore(location, { beside: true });
  try {
    return await work(administrationOf(store, Date.now));
  } catch (error) {
    throw error instanceof Problem ? refusedByRules(error) : error;
  } finally {
    await store.close();
  }
}

/** A refusal of the rules, which HTTP would answer with a status, for the person who gave the command. */
function refusedByRules(cause: Problem): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot change the service: ${cause.message}`, { cause });
}
