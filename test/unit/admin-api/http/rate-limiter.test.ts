import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  remainingRequests,
  RequestLimiter,
  type Lane,
} from '../../../../src/admin-api/http/rate-limiter.js';
import { Limiters } from '../../../../src/admin-api/http/limiter-pool.js';
import type { Time } from '../../../../src/platform/clock.js';
import { SimulatedTime } from '../../../support/simulated-time.js';

/** A clock that stands still until it is moved. */
class HandTime implements Time {
  #now = 0;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#sleepers.push({ until: this.#now + ms, wake: resolve });
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  }

  async pass(ms: number): Promise<void> {
    this.#now += ms;
    for (const { until, wake } of this.#sleepers) if (until <= this.#now) wake();
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.#now);
    await settle();
  }
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Tasks that run until they are told to end. */
class Tasks {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #limiter: RequestLimiter;

  constructor(limiter: RequestLimiter) {
    this.#limiter = limiter;
  }

  async add(name: string, lane: Lane = 'normal', signal?: AbortSignal): Promise<void> {
    await this.#limiter.run(
      lane,
      async () => {
        this.started.push(name);
        await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      },
      { signal },
    );
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await settle();
  }
}

function fixture(maxConcurrent: number) {
  const time = new HandTime();
  const pauses: { waitMs: number; waiting: number }[] = [];
  const limiter = new RequestLimiter({
    time,
    maxConcurrent,
    onPause: (pause) => pauses.push(pause),
  });
  return { time, pauses, limiter, tasks: new Tasks(limiter) };
}

describe('RequestLimiter', () => {
  it('runs so many at once and the rest in the order in which they came', async () => {
    const { tasks } = fixture(2);
    for (const name of ['a', 'b', 'c', 'd']) void tasks.add(name);
    await settle();
    expect(tasks.started).toEqual(['a', 'b']);

    await tasks.end('b');
    await tasks.end('a');

    expect(tasks.started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('lets a kill past a full house, a queue and a pause', async () => {
    const { tasks, limiter } = fixture(1);
    void tasks.add('a');
    void tasks.add('b');
    limiter.note({ throttled: true, askedWaitMs: 60_000 });

    void tasks.add('kill', 'kill');
    await settle();

    expect(tasks.started).toEqual(['a', 'kill']);
  });

  it('holds everything back as long as the service asks, and says so once', async () => {
    const { tasks, limiter, time, pauses } = fixture(4);
    limiter.note({ throttled: true, askedWaitMs: 7_000 });
    void tasks.add('a');
    void tasks.add('b');
    await time.pass(6_999);
    expect(tasks.started).toEqual([]);

    await time.pass(1);

    expect(tasks.started).toEqual(['a', 'b']);
    expect(pauses).toEqual([{ waitMs: 7_000, waiting: 1 }]);
  });

  it('refuses its turn to whatever would hang for a day, but to no kill', async () => {
    const { tasks, limiter } = fixture(1);
    const waiting = tasks.add('under way');
    const queued = limiter.run('normal', async () => Promise.resolve('queued'));
    limiter.note({ throttled: true, askedWaitMs: 86_400_000 });
    const late = limiter.run('normal', async () => Promise.resolve('late'));

    await expect(queued).rejects.toThrow('of which 86400 s are left');
    await expect(late).rejects.toThrow('of which 86400 s are left');
    expect(await limiter.run('kill', async () => Promise.resolve('killed'))).toBe('killed');
    await tasks.end('under way');
    await waiting;
  });

  it('pauses longer and longer when nothing says how long', async () => {
    const { tasks, limiter, time, pauses } = fixture(1);
    for (const name of ['a', 'b', 'c']) {
      limiter.note({ throttled: true });
      void tasks.add(name);
      await time.pass(60_000);
      await tasks.end(name);
    }

    expect(pauses.map(({ waitMs }) => waitMs)).toEqual([1_000, 2_000, 4_000]);
  });

  it('halves what runs at once with a throttle, and grows back with answers', async () => {
    const { tasks, limiter, time } = fixture(4);
    limiter.note({ throttled: true, askedWaitMs: 1 });
    // Under way together with the first: the same throttle.
    limiter.note({ throttled: true, askedWaitMs: 1 });
    await time.pass(10);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void tasks.add(name);
    await settle();
    expect(tasks.started).toEqual(['a', 'b']);

    for (let answers = 0; answers < 8; answers += 1) limiter.note({ throttled: false });
    await tasks.end('a');

    expect(tasks.started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('stops before the last request that the service grants, which is left to a kill', async () => {
    const { tasks, limiter, time } = fixture(4);
    limiter.note({ throttled: false, remaining: 1, askedWaitMs: 5_000 });
    void tasks.add('a');
    void tasks.add('kill', 'kill');
    await settle();
    expect(tasks.started).toEqual(['kill']);

    await time.pass(5_000);

    expect(tasks.started).toEqual(['kill', 'a']);
  });

  it('lets go of one that no longer wants its turn', async () => {
    const { tasks } = fixture(1);
    const control = new AbortController();
    void tasks.add('a');
    const b = tasks.add('b', 'normal', control.signal);
    void tasks.add('c');

    control.abort(new Error('enough'));

    await expect(b).rejects.toThrow('enough');
    await tasks.end('a');
    expect(tasks.started).toEqual(['a', 'c']);
  });

  it('lets what was turned away go before what never went', async () => {
    const { limiter, tasks } = fixture(1);
    void tasks.add('first');
    void tasks.add('waiting');
    const again = limiter.run(
      'normal',
      async () => {
        tasks.started.push('again');
        return Promise.resolve();
      },
      { isAgain: true },
    );
    await settle();

    await tasks.end('first');
    await again;

    expect(tasks.started.slice(0, 2)).toEqual(['first', 'again']);
  });

  it('frees the place of a task that failed', async () => {
    const { limiter, tasks } = fixture(1);
    await expect(
      limiter.run('normal', async () => Promise.reject(new Error('no'))),
    ).rejects.toThrow();

    void tasks.add('a');
    await settle();

    expect(tasks.started).toEqual(['a']);
  });
});

const ADMITTED = 20;
const WINDOW_MS = 10_000;

/** A service that admits 20 requests in any 10 s and says nothing of it, and a client that makes so many. */
class Sparing {
  readonly time = new SimulatedTime();
  readonly #limiter: RequestLimiter;
  readonly #atOnce: number;
  #admitted: number[] = [];
  #asked = 0;
  #isOver = false;

  constructor(atOnce = 4) {
    this.#atOnce = atOnce;
    this.#limiter = new RequestLimiter({ time: this.time, maxConcurrent: atOnce });
  }

  /** @returns whether the request was admitted. */
  ask(): boolean {
    this.#asked += 1;
    const now = this.time.now();
    this.#admitted = this.#admitted.filter((at) => at > now - WINDOW_MS);
    const isAdmitted = this.#admitted.length < ADMITTED;
    if (isAdmitted) this.#admitted.push(now);
    return isAdmitted;
  }

  /** @returns how long it took, and each of the kills that another process sent meanwhile, once the pace is known. */
  async run(requests: number, isWrite: boolean): Promise<{ ms: number; kills: number[] }> {
    const startedAt = this.time.now();
    let left = requests;
    const workers = Array.from({ length: this.#atOnce }, async () => {
      while ((left -= 1) >= 0) await this.#send(isWrite);
    });
    const all = Promise.all(workers).then(() => {
      this.#isOver = true;
      return this.time.now() - startedAt;
    });
    const kills = this.#kills();
    const ms = await this.time.runUntil(all, () => this.#asked);
    await this.time.runUntil(kills, () => this.#asked);
    return { ms, kills: await kills };
  }

  async #send(isWrite: boolean): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const task = async (): Promise<boolean> => {
        await this.time.sleep(20);
        return this.ask();
      };
      const isAdmitted = await this.#limiter.run('normal', task, { isWrite, isAgain: tries > 1 });
      this.#limiter.note({ throttled: !isAdmitted });
      if (isAdmitted) return;
    }
  }

  /** Every 7.3 s, tried again each 100 ms. */
  async #kills(): Promise<number[]> {
    const took: number[] = [];
    await this.time.sleep(4 * WINDOW_MS);
    while (!this.#isOver) {
      const sentAt = this.time.now();
      while (!this.ask()) await this.time.sleep(100);
      took.push(this.time.now() - sentAt);
      await this.time.sleep(7_300);
    }
    return took;
  }
}

it('leaves room for the kills of another process beside a run that writes, and costs it little', async () => {
  const { ms, kills } = await new Sparing().run(600, true);

  expect(kills.length).toBeGreaterThan(30);
  expect(Math.max(...kills)).toBeLessThanOrEqual(1_000);
  // The least that any client needs: 20 at once, and 20 more after each window, of which the kills took some.
  expect(ms).toBeLessThanOrEqual(((600 + kills.length) / ADMITTED - 1) * WINDOW_MS * 1.1);
});

it.each([1, 8])(
  'lets the 4,089 requests of a first apply of 1,000 flags take little longer than the limit, %d at once',
  async (atOnce) => {
    const { ms, kills } = await new Sparing(atOnce).run(4_089, true);

    const limitMs = ((4_089 + kills.length) / ADMITTED - 1) * WINDOW_MS;
    expect(ms / limitMs).toBeLessThanOrEqual(1.1);
  },
);

it('sends what only reads as soon as it may', async () => {
  const sparing = new Sparing();
  const { ms, kills } = await sparing.run(300, false);

  expect(ms).toBeLessThanOrEqual(((300 + kills.length) / ADMITTED - 1) * WINDOW_MS * 1.1);
});

it('does not take the hours in which it asked little for a window', async () => {
  const { limiter, tasks, time, pauses } = fixture(1);
  limiter.note({ throttled: false });
  await time.pass(3 * 3_600_000);
  for (const name of ['a', 'b', 'c', 'd']) {
    limiter.note({ throttled: false });
    limiter.note({ throttled: true });
    void tasks.add(name);
    await time.pass(60_000);
    await tasks.end(name);
  }

  expect(tasks.started).toEqual(['a', 'b', 'c', 'd']);
  expect(Math.max(...pauses.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(60_000);
});

describe('the limiter of a daemon', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([-1, 1])('goes on where the clock of the machine is set by %d day', async (days) => {
    const service = { origin: 'http://127.0.0.1:1', key: 'made-up' };
    const limiter = new Limiters().of(service, { note: () => undefined });
    const task = async (): Promise<string> => Promise.resolve('sent');
    await limiter.run('normal', task, { isWrite: true });
    limiter.note({ throttled: true, askedWaitMs: 20 });
    const then = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(then + days * 86_400_000);

    await expect(limiter.run('normal', task, { isWrite: true })).resolves.toBe('sent');
    await expect(limiter.run('normal', task, { isWrite: true })).resolves.toBe('sent');
  });
});

it('reads the smaller of the two counts of requests left', () => {
  const headers = { 'x-ratelimit-remaining-org': '9', 'x-ratelimit-remaining-ip': '3' };

  expect(remainingRequests(headers)).toBe(3);
  expect(remainingRequests({})).toBeUndefined();
});
