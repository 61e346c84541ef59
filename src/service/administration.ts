import { addAdminKey, removeAdminKey, type NewKey } from './admin-keys.js';
import { FlagkeelError } from '../errors.js';
import { callerWithoutKey } from './change-log.js';
import { Problem } from './http/problem.js';
import { namedKeys, type NamedKey } from './key-reach.js';
import type { Page } from './rules/paging.js';
import { listAudit, type AuditEntry, type AuditFilter } from './store/audit.js';
import { openStore, type Store, type StoreLocation } from './store/store.js';

/** What whoever holds the store itself may do, without a key and without HTTP. */
export interface Administration {
  /** Makes an Admin API key, by default one that may do everything. It cannot be shown again. */
  createKey(name: string, restrictions?: Omit<NewKey, 'name'>): Promise<string>;
  /** All keys in the order of their creation, also those that were revoked. */
  listKeys(): Promise<readonly NamedKey[]>;
  /** Revokes a key, which is refused from the next request on. Repeated, it changes nothing. */
  revokeKey(id: string): Promise<void>;
  /** The newest first; 1,000 where no page is named. */
  audit(filter?: AuditFilter, page?: Page): Promise<readonly AuditEntry[]>;
}

/** @param clock milliseconds since the epoch. */
export function administrationOf(store: Store, clock: () => number): Administration {
  return {
    createKey: async (name, restrictions = {}) => {
      const wanted = { ...restrictions, name };
      const created = await store.write(async (db) =>
        addAdminKey(db, callerWithoutKey('operator', clock()), wanted),
      );
      return created.key;
    },
    listKeys: async () => store.read(namedKeys),
    revokeKey: async (id) =>
      store.write(async (db) => removeAdminKey(db, callerWithoutKey('operator', clock()), id)),
    audit: async (filter = {}, page = { offset: 0, limit: 1_000 }) =>
      (await store.read(async (db) => listAudit(db, filter, page))).entries,
  };
}

/**
 * Opens a store, runs `work` on it, and closes it again. A service that has it open heeds what was done from the next
 * request on.
 *
 * @throws FlagkeelError (USAGE) what was asked for is not allowed or names what is not there.
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

/**
 * A refusal of the rules, which HTTP answers with a status, as an error for whoever gave a command.
 */
export function refusedByRules(problem: Problem): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot change the service: ${problem.message}`, {
    cause: problem,
  });
}
