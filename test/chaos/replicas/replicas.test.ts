import { describe, expect, it } from 'vitest';
import {
  playRound,
  roundsText,
  unprovoked,
  type Misfortune,
  type Round,
} from '../../support/replica-rounds.js';
import { ReplicaWorld, type LateWrite, type Reign } from '../../support/replica-world.js';
import { lacks } from '../../support/requirements.js';
import { randomFrom } from '../choices.js';

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
