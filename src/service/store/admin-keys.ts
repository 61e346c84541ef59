import type { AdminKeyRow, Db } from './tables.js';

/** In the order of their creation, those that were revoked too. */
export async function listAdminKeys(db: Db): Promise<AdminKeyRow[]> {
  return db.selectFrom('admin_keys').selectAll().orderBy('creation_time').orderBy('id').execute();
}

export async function findAdminKey(db: Db, id: string): Promise<AdminKeyRow | undefined> {
  return db.selectFrom('admin_keys').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function insertAdminKey(db: Db, key: AdminKeyRow): Promise<void> {
  await db.insertInto('admin_keys').values(key).execute();
}

export async function revokeAdminKey(db: Db, id: string, now: number): Promise<void> {
  await db.updateTable('admin_keys').set({ revocation_time: now }).where('id', '=', id).execute();
}
