import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplicaWorld } from '../support/replica-world.js';
import { lacks } from '../support/requirements.js';

const KILLS = `kills:
  pay: { reason: "INC-4711 double charges", by: ana, since: 2026-10-03T22:14:00Z }
`;

describe.skipIf(lacks('postgresql'))('in the middle of an apply a replica', () => {
  it.each([
    ['whose lease another took', async (world: ReplicaWorld) => world.usurp()],
    [
      'whose database goes away',
      async (world: ReplicaWorld) => {
        world.line.cut();
        return Promise.resolve();
      },
    ],
  ])('%s sends nothing after the write under way, and says what it skipped', async (_, lose) => {
    // With so long a lease it learns nothing by renewing.
    await using world = await ReplicaWorld.open(120_000);
    world.push(1);
    // One request at a time: of several that are under way all are finished.
    const { watching } = await world.start(['--concurrency', '1']);
    await world.applied(1);
    await watching.until(() => watching.runs.length > 0, 'the end of the first run');
    const { requests } = world.service;
    requests.length = 0;
    let losing: Promise<void> | undefined;
    world.service.failAtRandom(() => {
      if (!requests.some(({ method }) => method !== 'GET')) return undefined;
      losing ??= lose(world);
      return 'slow';
    });

    const run = await watching.ran(world.push(50), 'interrupted');

    await losing;
    const writes = requests.filter(({ method }) => method !== 'GET');
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.length).toBeLessThanOrEqual(2);
    expect(run.summary).toMatch(/skipped/);
  });
});

describe.skipIf(lacks('postgresql'))('replicas whose database is away', () => {
  let world: ReplicaWorld;

  beforeEach(async () => {
    world = await ReplicaWorld.openTwo(2_000);
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  async function cutOff(): Promise<void> {
    world.line.cut();
    for (const { watching } of world.replicas)
      await watching.line(({ msg }) => msg === 'database of the replicas out of reach');
  }

  it('send the kill that git orders and nothing else, and go on once it is back', async () => {
    await cutOff();
    world.service.requests.length = 0;
    const commit = world.push(60, { 'kills/production.yaml': KILLS });

    const [one] = world.replicas;
    await one?.watching.until(async () => world.isKilled('pay', 'production'), 'the kill');
    for (const { watching } of world.replicas) await watching.ran(commit, 'interrupted');

    const writes = world.service.requests.filter(({ method }) => method !== 'GET');
    expect(writes.length).toBeGreaterThan(0);
    const killed = `/pay/environments/${world.live.production}`;
    expect(
      writes.filter(({ method, path }) => method !== 'PATCH' || !path.includes(killed)),
    ).toEqual([]);
    expect(new Set(await world.shares())).toEqual(new Set([1]));

    world.line.mend();
    await world.applied(60);
    expect(await world.isKilled('pay', 'production')).toBe(true);
  });
});
