import type { LookUp, Lookup } from './lookup.js';
import type { AdminKeyRow, Db } from './tables.js';

const ADMIN_KEY: Lookup = { name: 'admin-key', text: 'select * from admin_keys where id = $1' };

export async function lookUpAdminKey(lookUp: LookUp, id: string): Promise<AdminKeyRow | null> {
  return (await lookUp<AdminKeyRow>(ADMIN_KEY, [id]))[0] ?? null;
}

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
