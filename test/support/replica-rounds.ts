import { holderOf, type Reign, type Replica, type ReplicaWorld } from './replica-world.js';

/** What becomes of a leader in the middle of its work. */
export type Misfortune = 'SIGKILL' | 'SIGSTOP';

export interface Round {
  readonly misfortune: Misfortune;
  /** The request of the run, counted from 1, at which it came. */
  readonly atRequest: number;
  /** Milliseconds since the epoch. */
  readonly hitAtMs: number;
  /** Until another replica had the lease. */
  readonly takeOverMs: number;
  /** Until everything was as git says. */
  readonly appliedMs: number;
}

/** More than a run of the world sends, now and then: it comes when the leader has nothing to do any more then. */
const MAX_REQUEST = 24;
const IDLE_MS = 8_000;

/**
 * A commit is pushed; at one of the requests that follow the leader is killed, or frozen until another has done its
 * work. Returns with as many replicas as before.
 *
 * @param random from 0 (inclusive) to 1 (exclusive).
 */
export async function playRound(
  world: ReplicaWorld,
  {
    percent,
    misfortune,
    random,
  }: { percent: number; misfortune: Misfortune; random: () => number },
): Promise<Round> {
  const atRequest = 1 + Math.floor(random() * MAX_REQUEST);
  const leader = await world.leader();
  const hit = hitAt(world, leader, { misfortune, atRequest });
  world.push(percent);
  const hitAtMs = await hit;
  const successor = await world.reignAfter(hitAtMs);
  await world.applied(percent);
  const appliedMs = Date.now() - hitAtMs;
  if (misfortune === 'SIGSTOP') await wake(leader);
  else await world.start();
  return {
    ...{ misfortune, atRequest, hitAtMs, appliedMs },
    takeOverMs: Math.round(successor.beganAt - hitAtMs),
  };
}

/** @returns when it came. */
async function hitAt(
  { service }: ReplicaWorld,
  { watching }: Replica,
  { misfortune, atRequest }: { misfortune: Misfortune; atRequest: number },
): Promise<number> {
  return new Promise((resolve) => {
    let left = atRequest;
    const strike = (): void => {
      clearTimeout(timer);
      service.failAtRandom(() => undefined);
      process.kill(watching.pid, misfortune);
      resolve(Date.now());
    };
    const timer = setTimeout(strike, IDLE_MS);
    service.failAtRandom(() => {
      left -= 1;
      if (left === 0) strike();
      return undefined;
    });
  });
}

/** It has to notice by itself that it is too late. */
async function wake(frozen: Replica): Promise<void> {
  const { watching } = frozen;
  const before = watching.lines.length;
  watching.signal('SIGCONT');
  await watching.until(
    () =>
      watching.lines
        .slice(before)
        .some(({ msg }) => msg === 'this replica keeps the source no longer'),
    `${String(holderOf(frozen))} to notice`,
  );
}

/** Holders that nobody had to make room for: no misfortune came between one and the next. */
export function unprovoked(reigns: readonly Reign[], rounds: readonly Round[]): readonly Reign[] {
  return reigns.filter(({ beganAt }, index) => {
    const before = reigns[index - 1];
    if (before === undefined) return false;
    return !rounds.some(({ hitAtMs }) => hitAtMs > before.beganAt && hitAtMs <= beganAt);
  });
}

/** Of one round and all: for people. */
export function roundsText(rounds: readonly Round[], leaseMs: number): string {
  const times = rounds.map(({ takeOverMs }) => takeOverMs).sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  return `${rounds.length} rounds, lease ${leaseMs} ms: take-over ${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (most)`;
}
