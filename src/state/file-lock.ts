import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { FlagkeelError } from '../errors.js';
import { isBusy, openSqlite, type SqliteDatabase } from '../platform/sqlite.js';
import { gitError } from '../git/git.js';
import { pauseForLock } from '../platform/clock.js';

const POLL_MS = 50;

/** Frees the lock. The caller awaits the result, if there is one. Repeating it does nothing. */
export type Release = () => unknown;

/** An exclusive transaction on an empty SQLite file: the only kernel lock that is available on every platform. */
export async function lockFile(
  gitDir: string,
  lockName: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Release> {
  const file = join(gitDir, `flagkeel-${lockName}`);
  await refuseOther(file);
  const database = openSqlite(file);
  try {
    await begin(database, performance.now() + timeoutMs, signal);
  } catch (error) {
    database.close();
    throw error;
  }
  let held = true;
  return () => {
    if (held) database.close();
    held = false;
  };
}

/** Refuses any file but our empty one: SQLite would replay a foreign journal that lies beside another file. */
async function refuseOther(file: string): Promise<void> {
  const there = await lstat(file).catch(() => null);
  if (there === null || (there.isFile() && there.size === 0)) return;
  throw gitError('lock the state', new Error(`"${file}" is no lock of ours (remove it)`));
}

async function begin(
  database: SqliteDatabase,
  deadline: number,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return;
    } catch (error) {
      if (!isBusy(error)) throw gitError('lock the state', error);
      if (performance.now() < deadline) {
        await pauseForLock(POLL_MS, signal);
        continue;
      }
      throw new FlagkeelError(
        'IN_USE',
        'cannot lock the state: another run holds it (wait with --lock-timeout)',
        { cause: error },
      );
    }
  }
}
