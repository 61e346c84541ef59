import {
  holderOf,
  type Reign,
  type Replica,
  ReplicaWorld,
  type LateWrite,
} from '../../support/replica-world.js';
import { describe, expect, it } from 'vitest';
import { lacks } from '../../support/requirements.js';
import { randomFrom } from '../choices.js';

/** What becomes of a leader in the middle of its work. */
type Misfortune = 'SIGKILL' | 'SIGSTOP';

interface Round {
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
async function playRound(
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
function unprovoked(reigns: readonly Reign[], rounds: readonly Round[]): readonly Reign[] {
  return reigns.filter(({ beganAt }, index) => {
    const before = reigns[index - 1];
    if (before === undefined) return false;
    return !rounds.some(({ hitAtMs }) => hitAtMs > before.beganAt && hitAtMs <= beganAt);
  });
}

/** Of one round and all: for people. */
function roundsText(rounds: readonly Round[], leaseMs: number): string {
  const times = rounds.map(({ takeOverMs }) => takeOverMs).sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  return `${rounds.length} rounds, lease ${leaseMs} ms: take-over ${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (most)`;
}

/** Repeats the choices of a run, though not its timing. */
const SEED = Number(process.env['FLAGKEEL_REPLICA_SEED'] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env['FLAGKEEL_REPLICA_KILLS'] ?? 50);
const LEASE_MS = 2_000;

async function play(
  replicas: number,
  count: number,
  misfortune: Misfortune,
): Promise<{
  rounds: readonly Round[];
  late: readonly LateWrite[];
  extra: readonly Reign[];
}> {
  const random = randomFrom(SEED + replicas);
  const rounds: Round[] = [];
  await using world = await ReplicaWorld.open(LEASE_MS);
  world.push(100);
  for (let started = 0; started < replicas; started += 1) await world.start();
  await world.applied(100);
  while (rounds.length < count) {
    const percent = 1 + (rounds.length % 99);
    const round = await playRound(world, { percent, misfortune, random });
    rounds.push(round);
    process.stdout.write(`${JSON.stringify(round)}\n`);
  }
  const late = await world.lateWrites();
  const extra = unprovoked(await world.reigns(), rounds);
  for (const reign of extra)
    process.stdout.write(`${JSON.stringify(reign)}\n${world.leaseLog()}\n`);
  process.stdout.write(
    `${replicas} replicas, ${misfortune}, seed ${SEED}: ${roundsText(rounds, LEASE_MS)}; ` +
      `${late.length} requests of fenced replicas ${JSON.stringify(late)}; ` +
      `${extra.length} terms that nobody provoked\n`,
  );
  return { rounds, late, extra };
}

describe.skipIf(lacks('postgresql'))('a leader that is struck at a random request', () => {
  it.each([
    { replicas: 2, count: Math.ceil(KILLS / 2), misfortune: 'SIGKILL' as const },
    { replicas: 3, count: Math.floor(KILLS / 2), misfortune: 'SIGKILL' as const },
    { replicas: 2, count: Math.ceil(KILLS / 5), misfortune: 'SIGSTOP' as const },
  ])('$misfortune, $replicas replicas: all is applied', async ({ replicas, count, misfortune }) => {
    const { rounds, late, extra } = await play(replicas, count, misfortune);

    expect(rounds.filter(({ takeOverMs }) => takeOverMs > 2 * LEASE_MS)).toEqual([]);
    // A replica that cannot run for a whole lease loses it, as on a machine that is too busy; that is rare.
    expect(extra.length).toBeLessThanOrEqual(1);
    // What was under way when the leader froze may come late: one request for each time.
    expect(late.length).toBeLessThanOrEqual(misfortune === 'SIGSTOP' ? count : 0);
  });
});
