import { hostname } from 'node:os';
import { FlaghoistError } from '../errors.js';
import { pauseForLock } from './lock-pause.js';
import type { Release } from './state-lock.js';
import type { StateOrigin } from './state-origin.js';
import { cleanLine } from './words.js';

/** A lock whose holder is gone is free after so long; a holder that lives renews it three times in it. */
const EXPIRES_MS = 5 * 60_000;
/** Clocks of two machines may be so far apart. */
const CLOCK_SKEW_MS = 60_000;
const POLL_MS = 2_000;

/** Under which a replica of a daemon writes: whoever has a greater term of the same lease came after it. */
export interface LockLease {
  readonly lease: string;
  readonly term: number;
}

/** Who holds the lock of a shared state, as the holder says. */
export interface LockHolder {
  readonly commit: string;
  readonly who: string;
  /** Milliseconds since the epoch, by the holder's clock; 0 where it says nothing that can be read. */
  readonly untilMs: number;
  readonly lease?: LockLease | undefined;
}

export function lockRefName(stateRef: string): string {
  return stateRef.replace(/^refs\/flaghoist\//, 'refs/flaghoist-lock/');
}

/**
 * Takes the lock of a shared state: a ref on origin, with an expiry, that only one run can create.
 *
 * @param timeoutMs 0: one try.
 * @param lease a lock of an earlier term of the same lease is nobody's any more.
 * @throws FlaghoistError `IN_USE` another run holds it; `GIT`
 */
export async function lockOnOrigin(
  origin: StateOrigin,
  stateRef: string,
  {
    timeoutMs,
    signal,
    lease,
  }: {
    readonly timeoutMs: number;
    readonly signal?: AbortSignal | undefined;
    readonly lease?: LockLease | undefined;
  },
): Promise<Release> {
  const ref = lockRefName(stateRef);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const holder = await lockHolder(origin, stateRef);
    if (isFree(holder, lease)) {
      const commit = await lockCommit(origin, lease);
      if (await origin.move(ref, commit, holder?.commit ?? null)) {
        return keepLocked(origin, { ref, first: commit, lease });
      }
    }
    if (performance.now() >= deadline) throw inUse(holder);
    await pauseForLock(POLL_MS, signal);
  }
}

/** Null: nobody holds it. @throws FlaghoistError `GIT` */
export async function lockHolder(
  origin: StateOrigin,
  stateRef: string,
): Promise<LockHolder | null> {
  const ref = lockRefName(stateRef);
  const commit = await origin.fetch(ref, ref.replace('flaghoist-lock', 'flaghoist-origin-lock'));
  if (commit === null) return null;
  const message = await origin.git.run(
    ['log', '-1', '--format=%B', '--no-show-signature', '--end-of-options', commit],
    `read ${ref}`,
  );
  const [who = '', until = '', under = ''] = message.split('\n');
  const untilMs = Date.parse(until.replace(/^until /, ''));
  return {
    commit,
    who: cleanLine(who).slice(0, 200),
    untilMs: Number.isNaN(untilMs) ? 0 : untilMs,
    lease: leaseIn(under),
  };
}

function isFree(holder: LockHolder | null, lease: LockLease | undefined): boolean {
  if (holder === null || holder.untilMs + CLOCK_SKEW_MS < Date.now()) return true;
  const theirs = holder.lease;
  return theirs !== undefined && theirs.lease === lease?.lease && theirs.term < lease.term;
}

function leaseIn(line: string): LockLease | undefined {
  const [, term, lease] = /^term (\d{1,15}) of (.+)$/.exec(line) ?? [];
  return lease === undefined ? undefined : { lease, term: Number(term) };
}

/** Frees the lock, whoever holds it. @returns false: the holder changed meanwhile, and it stays. */
export async function breakLock(
  origin: StateOrigin,
  stateRef: string,
  holder: LockHolder,
): Promise<boolean> {
  return origin.move(lockRefName(stateRef), null, holder.commit);
}

function keepLocked(
  origin: StateOrigin,
  { ref, first, lease }: { ref: string; first: string; lease: LockLease | undefined },
): Release {
  let held: string | null = first;
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    if (held === null) return;
    try {
      const commit = await lockCommit(origin, lease);
      held = (await origin.move(ref, commit, held)) ? commit : null;
    } catch {
      // The next try may reach origin. Should the lock expire, the state itself is still moved by comparison only.
    }
  };
  const timer = setInterval(() => {
    renewing = renewing.then(renew);
  }, EXPIRES_MS / 3);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await renewing;
    const last = held;
    held = null;
    if (last !== null) await origin.move(ref, null, last);
  };
}

async function lockCommit({ git }: StateOrigin, lease: LockLease | undefined): Promise<string> {
  const until = new Date(Date.now() + EXPIRES_MS).toISOString();
  const who = `${hostname()} process ${process.pid} since ${new Date().toISOString()}`;
  const under = lease === undefined ? '' : `\nterm ${lease.term} of ${lease.lease}`;
  const message = `${who}\nuntil ${until}${under}`;
  const tree = await git.run(['hash-object', '-t', 'tree', '-w', '/dev/null'], 'write a lock');
  const commit = await git.run(
    [
      '-c',
      'user.name=flaghoist',
      '-c',
      'user.email=flaghoist@localhost',
      'commit-tree',
      '-m',
      message,
      tree.trim(),
    ],
    'write a lock',
  );
  return commit.trim();
}

function inUse(holder: LockHolder | null): FlaghoistError {
  const who = holder === null ? 'another run' : `${holder.who}, until ${isoOf(holder.untilMs)}`;
  return new FlaghoistError(
    'IN_USE',
    `cannot lock the shared state: held by ${who} (wait with --lock-timeout, or free it with flaghoist state unlock)`,
  );
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
