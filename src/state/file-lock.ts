import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { FlagkeelError } from '../errors.js';
import { isBusy, openSqlite, type SqliteDatabase } from '../platform/sqlite.js';
import { gitError } from '../git/git.js';
import { pauseForLock } from '../platform/clock.js';

const POLL_MS = 50;

/** Gives the lock back; what it returns, if anything, is to be awaited. Repeating it does nothing. */
export type Release = () => unknown;

/** An exclusive transaction on an empty SQLite file: the one lock of the kernel that is at hand everywhere. */
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

/** What lies there already has to be our empty file: of another one SQLite would take a journal beside it for its own, and work it off. */
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
