import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { Database } from '../../src/daemon/replicas/database.js';
import { TriggerQueue } from '../../src/daemon/replicas/queue.js';
import { Replicas } from '../../src/daemon/replicas/replicas.js';
import { realTime } from '../../src/platform/clock.js';
import { CutLine } from '../support/cut-line.js';
import { createDatabase } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';

const SOURCE = 'source-1';
const NOTHING = (): void => undefined;

describe.skipIf(lacks('postgresql'))('the queue of triggers on PostgreSQL', () => {
  let line: CutLine;
  let url: string;
  let database: Database;
  let queue: TriggerQueue;

  beforeEach(async () => {
    const place = new URL(await createDatabase(inject('postgresServer') ?? ''));
    line = await CutLine.open(Number(place.port));
    place.port = String(line.port);
    url = place.href;
    database = new Database({ url, timeoutMs: 10_000, connections: 2, onTrouble: NOTHING });
    queue = await TriggerQueue.open(database, realTime, pino({ enabled: false }));
    await queue.create(SOURCE);
  });

  afterEach(async () => {
    line.mend();
    await queue.close();
    await database.close();
    await line.close();
  });

  it('does not end the process where the database goes away while a trigger is handed over', async () => {
    const nobodyCaught: unknown[] = [];
    const catchIt = (error: unknown): void => {
      nobodyCaught.push(error);
    };
    process.on('unhandledRejection', catchIt);
    let looks = 0;
    const end = queue.take(SOURCE, async () => {
      looks += 1;
      line.cut();
      return Promise.resolve(looks === 1);
    });

    await queue.put(SOURCE, 'request');
    await vi.waitFor(() => {
      expect(looks).toBe(1);
    }, 30_000);
    // Nothing tells that a rejection was not caught but the time that has passed since.
    await realTime.sleep(300);

    end();
    process.off('unhandledRejection', catchIt);
    expect(nobodyCaught).toEqual([]);
  });

  it('comes up from nothing in several replicas at once', async () => {
    const empty = await createDatabase(inject('postgresServer') ?? '');
    const log = pino({ enabled: false });
    const options = { url: empty, leaseMs: 6_000, time: realTime, log };

    const replicas = await Promise.all(
      Array.from({ length: 4 }, async () => Replicas.open(options)),
    );

    await Promise.all(replicas.map(async (each) => each.close()));
  });

  it('says that the database cannot be had where it cannot be prepared', async () => {
    line.cut();

    await expect(
      TriggerQueue.open(database, realTime, pino({ enabled: false })),
    ).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
  });

  it('goes on once the database is back', async () => {
    const taken: string[] = [];
    const end = queue.take(SOURCE, async (trigger) => {
      taken.push(trigger);
      return Promise.resolve(true);
    });
    line.cut();
    await realTime.sleep(700);
    line.mend();

    await vi.waitFor(async () => queue.put(SOURCE, 'commit'), 30_000);
    await vi.waitFor(() => {
      expect(taken).toEqual(['commit']);
    }, 30_000);
    end();
  });

  it('offers again what whoever was asked could not take', async () => {
    const asked: string[] = [];
    const end = queue.take(SOURCE, async (trigger) => {
      asked.push(trigger);
      if (asked.length === 1) throw new Error('not now');
      return Promise.resolve(asked.length === 3);
    });

    await queue.put(SOURCE, 'webhook');
    await vi.waitFor(() => {
      expect(asked).toEqual(['webhook', 'webhook', 'webhook']);
    }, 30_000);
    await vi.waitFor(async () => {
      const states = await database.query('select state from flagkeel_queue.job');
      expect(states).toEqual([{ state: 'completed' }]);
    }, 30_000);
    end();
  });
});
