import { firstRow, statement, type Lookup, type PreparedRead } from './statement.js';
import type { AdminKeyRow, Db, SessionRow } from './tables.js';

/* Keys are found after they were revoked too: their rows stay, so that lists show them. */

const ADMIN_KEY: Lookup = { name: 'admin-key', text: 'select * from admin_keys where id = $1' };

export async function lookUpAdminKey(
  lookUp: PreparedRead,
  id: string,
): Promise<AdminKeyRow | null> {
  return (await lookUp<AdminKeyRow>(ADMIN_KEY, [id]))[0] ?? null;
}

export const listAdminKeys = statement<AdminKeyRow, []>(
  'select * from admin_keys order by creation_time, id',
);

export const validKeyCalled = firstRow<AdminKeyRow, [name: string, now: number]>(`
  select * from admin_keys
  where name = $1 and revocation_time is null and (expiration_time is null or expiration_time > $2)`);

/** Keeps the newer time if another process has recorded one already. */
export const noteUseOfAdminKey = statement<never, [now: number, id: string]>(`
  update admin_keys set last_use_time = $1
  where id = $2 and (last_use_time is null or last_use_time < $1)`);

export const revokeAdminKey = statement<never, [now: number, id: string]>(
  'update admin_keys set revocation_time = $1 where id = $2',
);

export async function startSession(db: Db, session: SessionRow, now: number): Promise<void> {
  await db.deleteFrom('sessions').where('expiration_time', '<=', now).execute();
  await db.insertInto('sessions').values(session).execute();
}

const SESSION: Lookup = {
  name: 'session',
  text: 'select key_id from sessions where hash = $1 and expiration_time > $2',
};

export async function lookUpSession(
  lookUp: PreparedRead,
  hash: string,
  now: number,
): Promise<string | undefined> {
  const [row] = await lookUp<Pick<SessionRow, 'key_id'>>(SESSION, [hash, now]);
  return row?.key_id;
}

export const endSession = statement<never, [hash: string]>('delete from sessions where hash = $1');
