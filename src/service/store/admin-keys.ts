import type { PreparedRead, Lookup } from './statement.js';
import type { AdminKeyRow, Db, SessionRow } from './tables.js';

const ADMIN_KEY: Lookup = { name: 'admin-key', text: 'select * from admin_keys where id = $1' };

/** Runs outside of any transaction. Finds revoked keys too; gives null if no key has this id. */
export async function lookUpAdminKey(
  lookUp: PreparedRead,
  id: string,
): Promise<AdminKeyRow | null> {
  return (await lookUp<AdminKeyRow>(ADMIN_KEY, [id]))[0] ?? null;
}

/** All keys in the order of their creation, also those that were revoked. */
export async function listAdminKeys(db: Db): Promise<AdminKeyRow[]> {
  return db.selectFrom('admin_keys').selectAll().orderBy('creation_time').orderBy('id').execute();
}

/** Finds revoked keys too. */
export async function findAdminKey(db: Db, id: string): Promise<AdminKeyRow | undefined> {
  return db.selectFrom('admin_keys').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Whether a key of this name is valid: neither revoked nor ended.
 *
 * @param now milliseconds since the epoch.
 */
export async function isNameInUse(db: Db, name: string, now: number): Promise<boolean> {
  const found = await db
    .selectFrom('admin_keys')
    .select('id')
    .where('name', '=', name)
    .where('revocation_time', 'is', null)
    .where((eb) => eb.or([eb('expiration_time', 'is', null), eb('expiration_time', '>', now)]))
    .executeTakeFirst();
  return found !== undefined;
}

/** Keeps the newer time if another process has recorded one already. @param now milliseconds since the epoch. */
export async function noteUseOfAdminKey(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('admin_keys')
    .set({ last_use_time: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_use_time', 'is', null), eb('last_use_time', '<', now)]))
    .execute();
}

/** @param key contains only the hash; the text of a key is never stored. */
export async function insertAdminKey(db: Db, key: AdminKeyRow): Promise<void> {
  await db.insertInto('admin_keys').values(key).execute();
}

/**
 * Keeps the row, so that lists show revoked keys too.
 *
 * @param now milliseconds since the epoch.
 */
export async function revokeAdminKey(db: Db, id: string, now: number): Promise<void> {
  await db.updateTable('admin_keys').set({ revocation_time: now }).where('id', '=', id).execute();
}

/** Stores a session, and deletes those that have ended. @param now milliseconds since the epoch. */
export async function startSession(db: Db, session: SessionRow, now: number): Promise<void> {
  await db.deleteFrom('sessions').where('expiration_time', '<=', now).execute();
  await db.insertInto('sessions').values(session).execute();
}

const SESSION: Lookup = {
  name: 'session',
  text: 'select key_id from sessions where hash = $1 and expiration_time > $2',
};

/**
 * The id of the key of a session; undefined if the session does not exist or has ended.
 *
 * @param now milliseconds since the epoch.
 */
export async function lookUpSession(
  lookUp: PreparedRead,
  hash: string,
  now: number,
): Promise<string | undefined> {
  const [row] = await lookUp<Pick<SessionRow, 'key_id'>>(SESSION, [hash, now]);
  return row?.key_id;
}

/** May be repeated. */
export async function endSession(db: Db, hash: string): Promise<void> {
  await db.deleteFrom('sessions').where('hash', '=', hash).execute();
}
