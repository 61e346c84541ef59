import { firstRow, statement } from './statement.js';
import type { AdminKeyRow, Db, SessionRow } from './tables.js';

/* Keys are found after they were revoked too: their rows stay, so that lists show them. */

export const findAdminKey = firstRow<AdminKeyRow, [id: string]>(
  'select * from admin_keys where id = $1',
);

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

export const findSession = firstRow<Pick<SessionRow, 'key_id'>, [hash: string, now: number]>(
  'select key_id from sessions where hash = $1 and expiration_time > $2',
);

export const endSession = statement<never, [hash: string]>('delete from sessions where hash = $1');
