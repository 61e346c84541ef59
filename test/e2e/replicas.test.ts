import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playRound } from '../support/replica-rounds.js';
import { ReplicaWorld } from '../support/replica-world.js';
import { lacks } from '../support/requirements.js';

const LEASE_MS = 2_000;

describe.skipIf(lacks('postgresql'))('replicas of a daemon', () => {
  let world: ReplicaWorld;

  beforeEach(async () => {
    world = await ReplicaWorld.open(LEASE_MS);
    world.push(1);
    await world.start();
    await world.start();
    await world.applied(1);
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  it('go on where one was killed in the middle of its work', async () => {
    for (const [index, chance] of [0.1, 0.5].entries()) {
      const random = (): number => chance;
      const round = await playRound(world, { percent: 10 + index, misfortune: 'SIGKILL', random });
      expect(round.takeOverMs).toBeLessThanOrEqual(2 * LEASE_MS);
    }
    expect(await world.lateWrites()).toEqual([]);
  });

  it('keep one that was frozen from writing when it wakes', async () => {
    const random = (): number => 0.5;
    const round = await playRound(world, { percent: 20, misfortune: 'SIGSTOP', random });

    expect(round.takeOverMs).toBeLessThanOrEqual(2 * LEASE_MS);
    expect(await world.lateWrites()).toEqual([]);
  });
});
