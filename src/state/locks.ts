import { randomUUID } from 'node:crypto';
import { lstat, readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FlagkeelError } from '../errors.js';
import { gitError, runGit } from '../git/git.js';
import { cleanLine } from '../model/audit-note.js';
import { sha256 } from '../model/json.js';
import { pauseForLock } from '../platform/clock.js';
import { isBusy, openSqlite, type SqliteDatabase } from '../platform/sqlite.js';
import type { RefMove, StateOrigin } from './repository.js';
import { writeCommit } from './tree.js';

/** Repeating it does nothing. */
export type Release = () => unknown;

/** The lease under which a replica of a daemon writes. A later term of the same lease has a greater number. */
export interface LockLease {
  readonly lease: string;
  readonly term: number;
}

const FILE_POLL_MS = 50;

/** An exclusive transaction on an empty SQLite file: the only kernel lock that is available on every platform. */
export async function lockFile(
  gitDir: string,
  lockName: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Release> {
  const file = join(gitDir, `flagkeel-${lockName}`);
  await refuseOther(file);
  const deadline = performance.now() + timeoutMs;
  const database = openSqlite(file);
  try {
    while (!hasBegun(database)) {
      if (performance.now() >= deadline) {
        const why = 'another run holds it (wait with --lock-timeout)';
        throw new FlagkeelError('IN_USE', `cannot lock the state: ${why}`);
      }
      await pauseForLock(FILE_POLL_MS, signal);
    }
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

/** False while another run holds the lock. */
function hasBegun(database: SqliteDatabase): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw gitError('lock the state', error);
  }
}

/** Time until the lock of a dead holder is free. A living holder renews its lock three times within it. */
const EXPIRES_MS = 5 * 60_000;
/** Tolerated difference between the clocks of two machines. */
const CLOCK_SKEW_MS = 60_000;
const ORIGIN_POLL_MS = 2_000;
/** Stands for what the system does not tell, so that only this process is known to be itself. */
const PROCESS = randomUUID();
/** Linux draws it at each start. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** The commit in the lock. In its own words: anyone who can push could have written them. */
export interface LockHolder {
  readonly commit: string;
  readonly who: string;
  /** Milliseconds since the epoch, by the holder's clock; 0 if the lock holds nothing readable. */
  readonly untilMs: number;
  readonly lease: LockLease | undefined;
  /** Names a git directory on one machine, without its path; undefined if the lock names none. */
  readonly owner: string | undefined;
}

type LockUnder = Pick<LockHolder, 'lease'> & { readonly owner: string };

export function lockRefName(stateRef: string): string {
  return stateRef.replace(/^refs\/flagkeel\//, 'refs/flagkeel-lock/');
}

export interface OriginLock {
  /** Whether the state on origin was the known one when the lock was taken, so that no fetch is needed. */
  readonly isKnownState: boolean;
  /** Makes one more move in the push that frees the lock; false if origin did not confirm both, and the lock stays. */
  freeWith(move: RefMove): Promise<boolean>;
  readonly release: Release;
}

export interface OriginLockOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The lock of an earlier term of this lease has no holder any more, and is taken over. */
  readonly lease?: LockLease | undefined;
  /** Git directory whose own lock the caller holds, so that no other run over it is alive and holds this one. */
  readonly gitDir: string;
  /** Commit of the state on origin, as last seen; null if it was never seen. */
  readonly known: string | null;
}

/**
 * Takes the lock of a shared state: a ref on origin, with an expiry, that only one run can create. The first push goes
 * out without looking for a holder: if there is one, origin refuses it. The same push shows whether the state on origin
 * is still the known one.
 *
 * @throws FlagkeelError `IN_USE` another run holds it; `GIT` origin cannot be reached.
 */
export async function lockOnOrigin(
  origin: StateOrigin,
  stateRef: string,
  options: OriginLockOptions,
): Promise<OriginLock> {
  const { timeoutMs, signal, lease, known, gitDir } = options;
  const under = { lease, owner: await ownerOf(gitDir) };
  const ref = lockRefName(stateRef);
  const deadline = performance.now() + timeoutMs;
  // This moves nothing: origin refuses it if its state is another one.
  const asKnown = known === null ? [] : [{ ref: stateRef, commit: known, expected: known }];
  let expected: string | null = null;
  for (let refusals = 0; ;) {
    const commit = await lockCommit(origin, under);
    const moves = [{ ref, commit, expected }, ...asKnown];
    const { done, error } = await origin.push(moves, { atomic: false });
    let holder = done.has(ref) ? null : await lockHolder(origin, stateRef);
    if (done.has(ref) || holder?.commit === commit) {
      return { isKnownState: done.has(stateRef), ...keepLocked(origin, { ref, commit }, under) };
    }
    // No holder is in the way, so that a second refusal comes from origin itself.
    if ((holder?.commit ?? null) === expected && error !== null && (refusals += 1) > 1) throw error;
    while (!isFree(holder, under)) {
      if (performance.now() >= deadline) throw inUse(holder);
      await pauseForLock(ORIGIN_POLL_MS, signal);
      holder = await lockHolder(origin, stateRef);
    }
    expected = holder?.commit ?? null;
  }
}

/** Null if there is no lock; one that has expired has a holder too. @throws FlagkeelError `GIT` no origin in reach. */
export async function lockHolder(
  origin: StateOrigin,
  stateRef: string,
): Promise<LockHolder | null> {
  const ref = lockRefName(stateRef);
  const into = ref.replace('flagkeel-lock', 'flagkeel-origin-lock');
  await origin.fetch(ref, into);
  const answer = await runGit(origin.git, {
    args: ['for-each-ref', '--format=%(objectname)%0a%(contents)', into],
    purpose: `read ${ref}`,
  });
  const [commit = '', who = '', until = '', ...more] = answer.split('\n');
  if (commit === '') return null;
  const untilMs = Date.parse(until.replace(/^until /, ''));
  return {
    commit,
    who: cleanLine(who).slice(0, 200),
    untilMs: Number.isNaN(untilMs) ? 0 : untilMs,
    lease: more.map(leaseIn).find((each) => each !== undefined),
    owner: more.find((line) => line.startsWith(OWNER))?.slice(OWNER.length),
  };
}

function isFree(holder: LockHolder | null, { lease, owner }: LockUnder): boolean {
  if (holder === null || holder.untilMs + CLOCK_SKEW_MS < Date.now()) return true;
  // A lock of our own is left from a run that was killed, or could not reach origin to give it back.
  if (holder.owner === owner) return true;
  const theirs = holder.lease;
  return theirs !== undefined && theirs.lease === lease?.lease && theirs.term < lease.term;
}

const OWNER = 'owner ';

/** Differs between two copies of one disk that run at the same time, so that neither takes the lock of the other. */
async function ownerOf(gitDir: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(gitDir, { bigint: true });
  const boot = await readFile(BOOT_ID, 'utf8').catch(() => PROCESS);
  return sha256([hostname(), boot, gitDir, ino, birthtimeNs || PROCESS].join('\n'));
}

function leaseIn(line: string): LockLease | undefined {
  const [, term, lease] = /^term (\d{1,15}) of (.+)$/.exec(line) ?? [];
  return lease === undefined ? undefined : { lease, term: Number(term) };
}

/** Renews the lock until it is given back. */
function keepLocked(
  origin: StateOrigin,
  { ref, commit: first }: Pick<RefMove, 'ref'> & Pick<LockHolder, 'commit'>,
  under: LockUnder,
): Omit<OriginLock, 'isKnownState'> {
  let held: string | null = first;
  let moving: Promise<unknown> = Promise.resolve();
  /** Makes the moves of the lock one after the other, because each expects the commit that the one before left. */
  const inTurn = async <T>(move: () => Promise<T>): Promise<T> => {
    const moved = moving.then(move);
    moving = moved.catch(() => undefined);
    return moved;
  };
  const renew = async (): Promise<void> => {
    if (held === null) return;
    const commit = await lockCommit(origin, under);
    held = (await origin.move({ ref, commit, expected: held })) ? commit : null;
  };
  const timer = setInterval(() => {
    // The next try may reach origin. If the lock expires, the state is safe: it still moves by comparison only.
    inTurn(renew).catch(() => undefined);
  }, EXPIRES_MS / 3);
  timer.unref();
  return {
    freeWith: async (move) =>
      inTurn(async () => {
        if (held === null) return false;
        const moves = [move, { ref, commit: null, expected: held }];
        const { done } = await origin.push(moves, { atomic: true });
        if (!moves.every((each) => done.has(each.ref))) return false;
        held = null;
        clearInterval(timer);
        return true;
      }),
    release: async () => {
      clearInterval(timer);
      await inTurn(async () => {
        const last = held;
        held = null;
        if (last !== null) await origin.move({ ref, commit: null, expected: last });
      });
    },
  };
}

async function lockCommit({ git }: StateOrigin, { lease, owner }: LockUnder): Promise<string> {
  const until = new Date(Date.now() + EXPIRES_MS).toISOString();
  const who = `${hostname()} process ${process.pid} since ${new Date().toISOString()}`;
  const under = lease === undefined ? '' : `\nterm ${lease.term} of ${lease.lease}`;
  const message = `${who}\nuntil ${until}${under}\n${OWNER}${owner}`;
  return writeCommit(git, { message, from: null, lines: [] }, 'write a lock');
}

function inUse(holder: LockHolder | null): FlagkeelError {
  const who =
    holder === null
      ? 'another run'
      : `${holder.who}, until ${new Date(holder.untilMs).toISOString()}`;
  const remedy = 'wait with --lock-timeout, or free it with flagkeel state unlock';
  return new FlagkeelError('IN_USE', `cannot lock the shared state: held by ${who} (${remedy})`);
}
