import { randomBytes } from 'node:crypto';
import { createAdminKey } from './rules/admin-key.js';
import type { AdminKeyRow } from './store/tables.js';

/**
 * Admin API keys that live in memory as long as the service runs. The store does not know them, so that they leave
 * neither rows nor entries in the audit log behind. They may do everything.
 */
export class EphemeralKeys {
  readonly #rows = new Map<string, AdminKeyRow>();

  /** @param name the audit log shows it as the author of changes that are made with the key. */
  lend(name: string, now: number): string {
    const { id, key, hash } = createAdminKey(randomBytes);
    this.#rows.set(id, {
      id,
      name,
      hash,
      creation_time: now,
      revocation_time: null,
      expiration_time: null,
      last_use_time: null,
      workspaces_json: null,
      environments_json: null,
      is_exact: 1,
    });
    return key;
  }

  /** Finds a key by the id that its text holds. */
  find(id: string): AdminKeyRow | undefined {
    return this.#rows.get(id);
  }
}
