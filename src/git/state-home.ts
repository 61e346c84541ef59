import { constants } from 'node:fs';
import { access, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlaghoistError } from '../errors.js';
import type { State } from '../model/state.js';
import { isBusy, openSqlite, type SqliteDatabase } from '../sqlite.js';
import type { Checkout } from './checkout.js';
import { gitError, openGit } from './git.js';
import { StateRef, stateHash, stateRefName, type StateReading } from './state-ref.js';

const POLL_MS = 50;

/** Gives the lock back. Repeating it does nothing. */
export type Release = () => void;

/** Where the state of one config directory lives. */
export interface StateHome {
  /** Full name of the state ref. */
  readonly ref: string;
  /** The repository that holds it. */
  readonly gitDir: string;
  /**
   * Excludes every other run over the same ref of the same repository on this machine. The kernel takes the lock back
   * when its holder dies, however it dies.
   *
   * @param timeoutMs 0: one try.
   * @throws FlaghoistError `IN_USE` another run holds it still.
   */
  lock(timeoutMs: number, signal?: AbortSignal): Promise<Release>;
  /** @throws FlaghoistError `STATE_UNREADABLE`, `GIT` */
  read(): Promise<StateReading>;
  /**
   * Makes one commit of what differs from the last reading, and none where nothing does. A second write goes on from
   * the first.
   *
   * @throws FlaghoistError `IN_USE` the ref moved since it was read; `GIT`
   */
  write(
    next: State,
    meta: { readonly head: string | null; readonly message: string },
  ): Promise<void>;
}

export interface StateHomeOptions {
  readonly checkout: Checkout;
  /** A bare repository, made with the first write where it is absent. */
  readonly stateDir?: string;
  readonly workspaceId: string;
  /** Origin of the service, such as `https://admin.example.com`. */
  readonly origin: string;
  /** The config directory seen from the top of its repository: forward slashes, no slash at the end, empty for the top. */
  readonly directory: string;
}

/**
 * The first home that can be written: the directory for states, then the repository of the checkout. Null where
 * there is none: the run is stateless. Nothing is created until a lock or a write asks for it.
 */
export async function openStateHome(options: StateHomeOptions): Promise<StateHome | null> {
  const { checkout, stateDir, workspaceId, origin, directory } = options;
  const name = stateRefName(workspaceId, origin, directory);
  const lockName = `${stateHash(`${workspaceId}\n${origin}`, directory)}.lock`;
  if (stateDir !== undefined && (await canBecomeHome(stateDir))) {
    return bareHome(resolve(stateDir), name, lockName, workspaceId);
  }
  const { repository } = checkout;
  if (repository === null || !(await isWritable(repository.gitDir))) return null;
  const ref = new StateRef(repository.git, name, workspaceId);
  return {
    ref: name,
    gitDir: repository.gitDir,
    lock: async (timeoutMs, signal) => lockFile(repository.gitDir, lockName, timeoutMs, signal),
    read: async () => ref.read(),
    write: async (next, meta) => ref.write(next, meta),
  };
}

function bareHome(
  directory: string,
  name: string,
  lockName: string,
  workspaceId: string,
): StateHome {
  let opened: Promise<StateRef> | null = null;
  const open = async (): Promise<StateRef> => {
    await makeBare(directory);
    return new StateRef(openGit(await realpath(directory)), name, workspaceId);
  };
  const ref = async (): Promise<StateRef> => (opened ??= open());
  return {
    ref: name,
    gitDir: directory,
    lock: async (timeoutMs, signal) => {
      await ref();
      return lockFile(directory, lockName, timeoutMs, signal);
    },
    read: async () => {
      const exists = opened !== null || (await isRepository(directory));
      return exists ? (await ref()).read() : { state: new Map(), head: null, commit: null };
    },
    write: async (next, meta) => (await ref()).write(next, meta),
  };
}

async function makeBare(directory: string): Promise<void> {
  if (await isRepository(directory)) return;
  try {
    await mkdir(directory, { recursive: true });
  } catch (error) {
    throw gitError(`create the state repository "${directory}"`, error);
  }
  await openGit(await realpath(directory)).run(
    ['init', '--quiet', '--bare', '--initial-branch=state', '.'],
    `create the state repository "${directory}"`,
  );
}

async function isRepository(directory: string): Promise<boolean> {
  try {
    return (await stat(join(directory, 'HEAD'))).isFile();
  } catch {
    return false;
  }
}

/** Whether the directory, or the nearest one above it that exists, can be written. */
async function canBecomeHome(directory: string): Promise<boolean> {
  for (let candidate = resolve(directory); ; candidate = dirname(candidate)) {
    try {
      await access(candidate);
      return (await stat(candidate)).isDirectory() && (await isWritable(candidate));
    } catch {
      if (dirname(candidate) === candidate) return false;
    }
  }
}

async function isWritable(gitDir: string): Promise<boolean> {
  const places = [gitDir];
  for (const each of ['objects', 'refs', 'flaghoist']) {
    const place = join(gitDir, each);
    if (await isThere(place)) places.push(place);
  }
  const answers = await Promise.all(places.map(isWritableDirectory));
  return answers.every(Boolean);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function isWritableDirectory(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** An exclusive transaction on an empty SQLite file: the one lock of the kernel that is at hand everywhere. */
async function lockFile(
  gitDir: string,
  lockName: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Release> {
  const folder = join(gitDir, 'flaghoist');
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw gitError(`create "${folder}"`, error);
  }
  const database = openSqlite(join(folder, lockName));
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
        await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal });
        continue;
      }
      throw new FlaghoistError(
        'IN_USE',
        'cannot lock the state: another run holds it (wait with --lock-timeout)',
        { cause: error },
      );
    }
  }
}
