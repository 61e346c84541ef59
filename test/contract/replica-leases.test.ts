import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { realTime } from '../../src/platform/clock.js';
import { Database, MIGRATION, SharedRecord } from '../../src/daemon/replicas/database.js';
import { leaseFence } from '../../src/daemon/replicas/shared-leadership.js';
import { LeaseKeeper, Leases, type HeldLease } from '../../src/daemon/replicas/leases.js';
import type { Fence } from '../../src/model/run.js';

import { createDatabase } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { aRun } from '../support/daemon-view.js';

const TTL_MS = 60_000;

describe.skipIf(lacks('postgresql'))('leases of replicas on PostgreSQL', () => {
  let database: Database;

  beforeEach(async () => {
    const url = await createDatabase(inject('postgresServer') ?? '');
    database = new Database({ url, timeoutMs: 10_000, connections: 4, onTrouble: () => undefined });
    await database.query(MIGRATION);
  });

  afterEach(async () => {
    // Some tests take it away.
    await database.close().catch(() => undefined);
  });

  const leasesOf = (holder: string): Leases => new Leases(database, holder, TTL_MS);
  const keeperOf = (holder: string): LeaseKeeper =>
    new LeaseKeeper(leasesOf(holder), TTL_MS, realTime);

  /** As if the time of all leases had passed. */
  async function letTimePass(): Promise<void> {
    await database.query("update flagkeel_daemon.lease set expires_at = now() - interval '1 s'");
  }

  it('go to one of many that ask at the same moment', async () => {
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => leasesOf(id).take('x')));

    expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
  });

  it('have a greater term with each holder, also after they were given back', async () => {
    const first = await leasesOf('a').take('x');
    await leasesOf('a').giveBack(first ? [first] : []);
    const second = await leasesOf('b').take('x');
    await letTimePass();
    const third = await leasesOf('b').take('x');

    expect([first, second, third].map((lease) => lease?.term)).toEqual([1, 2, 3]);
  });

  async function taken(keeper: LeaseKeeper, name: string): Promise<HeldLease> {
    const held = await keeper.take(name);
    if (!held) throw new Error('not taken');
    return held;
  }

  it.each([
    ['though nobody has taken over', async () => Promise.resolve()],
    ['once another has taken over', async () => leasesOf('b').take('x')],
    ['when the same process has a later term', async () => keeperOf('a').take('x')],
  ])('permit a write while they last, and none after that, %s', async (_, takeOver) => {
    const keeper = keeperOf('a');
    const held = await taken(keeper, 'x');
    expect(await keeper.mayWrite([held])).toBe(true);

    await letTimePass();
    await takeOver();

    expect(await keeper.mayWrite([held])).toBe(false);
    expect(await leasesOf('a').renew([held])).toEqual([]);
    await keeper.renew();
    expect(held.lost.aborted).toBe(true);
  });

  it('are had at once by who was given one and never heard of it', async () => {
    const url = await createDatabase(inject('postgresServer') ?? '');
    const slow = new Database({ url, timeoutMs: 300, connections: 2, onTrouble: () => undefined });
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await slow.query(MIGRATION);
    const ours = new LeaseKeeper(new Leases(slow, 'a', TTL_MS), TTL_MS, realTime);
    const theirs = new Leases(slow, 'b', TTL_MS);
    await theirs.giveBack([(await theirs.take('x')) ?? { name: 'x', term: 0 }]);
    await holder.query('begin; select * from flagkeel_daemon.lease for update');
    await expect(ours.take('x')).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await holder.query('commit');
    await expect.poll(async () => theirs.take('x')).toBeNull();

    expect(await ours.take('x')).toMatchObject({ name: 'x', term: 3 });
    expect(await ours.take('x')).toBeNull();
    await holder.end();
    await slow.close();
  });

  it('permit no write when one of several is not held', async () => {
    const keeper = keeperOf('a');
    const [one, other] = [await taken(keeper, 'x'), await taken(keeper, 'y')];
    await keeper.giveBack(other);

    expect(await keeper.mayWrite([one])).toBe(true);
    expect(await keeper.mayWrite([one, other])).toBe(false);
  });

  describe('of a run that has a kill to send', () => {
    const [JUST_NOW, LONG_AGO] = [0, 60_000].map((agoMs) => performance.now() - agoMs);
    const KILL = { isUrgent: true };

    async function fenceOf(
      keeper: LeaseKeeper,
      seenAtMs = JUST_NOW ?? 0,
    ): Promise<{ fence: Fence; doubt: AbortController }> {
      const lease = await taken(keeper, 'x');
      const doubt = new AbortController();
      return { fence: leaseFence(lease.name, lease, { keeper, doubt, seenAtMs }), doubt };
    }

    it('permit it where the database does not answer, and nothing but it', async () => {
      const { fence, doubt } = await fenceOf(keeperOf('a'));
      await database.close();

      await expect(fence.check(KILL)).resolves.toBeUndefined();
      expect(doubt.signal.aborted).toBe(false);
      await expect(fence.check({ isUrgent: false })).rejects.toMatchObject({ code: 'INTERRUPTED' });
      expect(doubt.signal.aborted).toBe(true);
    });

    it('permit none that git ordered when it was looked at long ago, nor once another has taken over', async () => {
      const { fence: old } = await fenceOf(keeperOf('a'), LONG_AGO);
      await letTimePass();
      const { fence: lost } = await fenceOf(keeperOf('b'));
      await letTimePass();
      await leasesOf('c').take('x');
      await expect(lost.check(KILL)).rejects.toMatchObject({ code: 'INTERRUPTED' });
      await database.close();

      await expect(old.check(KILL)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    });

    it('permit it to who holds nothing while the database is away, and no longer', async () => {
      const options = { keeper: keeperOf('a'), seenAtMs: JUST_NOW ?? 0 };
      const there = leaseFence('x', null, { ...options, doubt: new AbortController() });
      await expect(there.check(KILL)).rejects.toMatchObject({ code: 'INTERRUPTED' });
      await database.close();

      const away = leaseFence('x', null, { ...options, doubt: new AbortController() });

      await expect(away.check(KILL)).resolves.toBeUndefined();
      const wait = { timeoutMs: 0, signal: new AbortController().signal };
      await expect(away.enter('y', wait)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    });
  });

  it('are waited for until their holder gives them back', async () => {
    const [first, second] = [keeperOf('a'), new LeaseKeeper(leasesOf('b'), 1_000, realTime)];
    const held = await first.take('x');
    const waiting = second.await('x', { timeoutMs: 10_000, signal: new AbortController().signal });
    if (held) await first.giveBack(held);

    expect((await waiting).term).toBe(2);
  });

  it('the history keeps the last hundred runs of each source, in order', async () => {
    const record = new SharedRecord(database, 'a');
    const template = aRun(null);
    for (let number = 0; number < 103; number += 1) {
      await record.addRun('x', { run: { ...template, id: String(number) }, at: null });
    }
    await record.addRun('y', { run: template, at: null });

    const runs = await record.runsAfter(new Map([['x', 0]]));
    expect(runs.map(({ run }) => run.run.id)).toEqual(
      Array.from({ length: 100 }, (_, index) => String(index + 3)),
    );
    const last = runs.at(-1)?.number ?? 0;
    expect(await record.runsAfter(new Map([['x', last]]))).toEqual([]);
  });

  it('no run is missed that is written while another replica writes one of the same source', async () => {
    const [slow, fast] = [new SharedRecord(database, 'slow'), new SharedRecord(database, 'fast')];
    await database.query(`
      create function dawdle() returns trigger as 'begin perform pg_sleep(0.5); return new; end' language plpgsql;
      create trigger dawdle before insert on flagkeel_daemon.run
        for each row when (new.replica = 'slow') execute function dawdle()`);
    const run = (id: string) => ({ run: { ...aRun(null), id }, at: null });
    const seen: string[] = [];
    let last = 0;
    const look = async (): Promise<void> => {
      const runs = await slow.runsAfter(new Map([['x', last]]));
      seen.push(...runs.map((each) => each.run.run.id));
      last = runs.at(-1)?.number ?? last;
    };

    const writing = slow.addRun('x', run('first'));
    const asleep = `select 1 from pg_stat_activity where wait_event = 'PgSleep'`;
    while ((await database.query(asleep)).length === 0);
    await fast.addRun('x', run('second'));
    await look();
    await writing;
    await look();

    expect(seen).toEqual(['first', 'second']);
  });

  it('count the replicas that are there', async () => {
    const [one, other] = [new SharedRecord(database, 'a'), new SharedRecord(database, 'b')];
    expect(await one.present(TTL_MS)).toBe(1);
    expect(await other.present(TTL_MS)).toBe(2);
    await one.leave();
    expect(await other.present(TTL_MS)).toBe(1);
  });
});
