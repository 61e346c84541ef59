import {
  addAdminKey,
  namedKeys,
  removeAdminKey,
  type NamedKey,
  type NewKey,
} from './admin-keys.js';
import { FlagkeelError } from '../errors.js';
import { callerWithoutKey } from './change-log.js';
import { Problem } from './http/problem.js';
import type { Page } from './rules/paging.js';
import { listAudit, type AuditEntry, type AuditFilter } from './store/audit.js';
import { openStore, type Store, type StoreLocation } from './store/store.js';

/** Operations on the store itself, for its operator: they need neither a key nor HTTP. */
export interface Administration {
  /** Makes an Admin API key, by default one that may do everything. It cannot be shown again. */
  createKey(name: string, restrictions?: Omit<NewKey, 'name'>): Promise<string>;
  listKeys(): Promise<readonly NamedKey[]>;
  revokeKey(id: string): Promise<void>;
  /** The newest entries first. Default: a page of 1,000. */
  audit(filter?: AuditFilter, page?: Page): Promise<readonly AuditEntry[]>;
}

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
 * Runs `work` on a store. A service that has the store open notices the changes with its next request.
 *
 * @throws FlagkeelError (USAGE) the rules do not allow the operation, or it names an object that does not exist.
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
export function refusedByRules(problem: Problem): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot change the service: ${problem.message}`, {
    cause: problem,
  });
}
