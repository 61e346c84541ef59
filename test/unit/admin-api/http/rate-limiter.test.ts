import { setImmediate as settle } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  Limiters,
  remainingRequests,
  RequestLimiter,
  type Lane,
} from '../../../../src/admin-api/http/rate-limiter.js';
import { SimulatedTime } from '../../../support/simulated-time.js';

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
  const time = new SimulatedTime();
  const pauses: { waitMs: number; waiting: number }[] = [];
  const limiter = new RequestLimiter({
    time,
    maxConcurrent,
    onPause: (pause) => pauses.push(pause),
  });
  return { time, pauses, limiter, tasks: new Tasks(limiter) };
}

describe('RequestLimiter', () => {
  it('runs so many at once and the rest in order, without one that left, or that failed', async () => {
    const { limiter, tasks } = fixture(2);
    const control = new AbortController();
    await expect(
      limiter.run('normal', async () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no');
    for (const name of ['a', 'b']) void tasks.add(name);
    const left = tasks.add('left', 'normal', control.signal);
    for (const name of ['c', 'd']) void tasks.add(name);
    control.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
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

    void tasks.add('kill', 'urgent');
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
    expect(await limiter.run('urgent', async () => Promise.resolve('killed'))).toBe('killed');
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
    void tasks.add('kill', 'urgent');
    await settle();
    expect(tasks.started).toEqual(['kill']);

    await time.pass(5_000);

    expect(tasks.started).toEqual(['kill', 'a']);
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
});

const ADMITTED = 20;
const WINDOW_MS = 10_000;

/** A service that admits 20 requests in any 10 s and says nothing of it. */
class SparingService {
  /** Nothing here goes over a socket: one turn of the event loop ends all that is under way. */
  readonly time = new SimulatedTime(1);
  #admitted: number[] = [];
  asked = 0;

  /** @returns whether the request was admitted. */
  ask(): boolean {
    this.asked += 1;
    const now = this.time.now();
    this.#admitted = this.#admitted.filter((at) => at > now - WINDOW_MS);
    const isAdmitted = this.#admitted.length < ADMITTED;
    if (isAdmitted) this.#admitted.push(now);
    return isAdmitted;
  }
}

/** A process with a limiter of its own that makes requests of the service. */
class Process {
  readonly #service: SparingService;
  readonly #atOnce: number;
  readonly #limiter: RequestLimiter;

  constructor(service: SparingService, atOnce = 4) {
    this.#service = service;
    this.#atOnce = atOnce;
    this.#limiter = new RequestLimiter({ time: service.time, maxConcurrent: atOnce });
  }

  /** @returns how long it took, in milliseconds. */
  async send(requests: number): Promise<number> {
    const { time } = this.#service;
    const startedAt = time.now();
    let left = requests;
    const workers = Array.from({ length: this.#atOnce }, async () => {
      while ((left -= 1) >= 0) await this.#send();
    });
    await Promise.all(workers);
    return time.now() - startedAt;
  }

  async #send(): Promise<void> {
    const { time } = this.#service;
    for (let tries = 1; ; tries += 1) {
      const task = async (): Promise<boolean> => {
        await time.sleep(20);
        return this.#service.ask();
      };
      const isAdmitted = await this.#limiter.run('normal', task, { isAgain: tries > 1 });
      this.#limiter.note({ throttled: !isAdmitted });
      if (isAdmitted) return;
    }
  }
}

interface Work {
  /** What other processes do meanwhile; the kills end with it. */
  readonly work: (service: SparingService) => Promise<unknown>;
  readonly afterMs: number;
  readonly everyMs: number;
}

/** @returns how long the work took, and each kill of one more process, which is tried again after 0.1 s. */
async function measured({
  work,
  afterMs,
  everyMs,
}: Work): Promise<{ ms: number; kills: number[] }> {
  const service = new SparingService();
  const { time } = service;
  const startedAt = time.now();
  let endedAt = Infinity;
  const kills: number[] = [];
  const killing = async (): Promise<void> => {
    await time.sleep(afterMs);
    while (time.now() < endedAt) {
      const sentAt = time.now();
      while (!service.ask()) await time.sleep(100);
      kills.push(time.now() - sentAt);
      await time.sleep(everyMs);
    }
  };
  const working = work(service).then(() => {
    endedAt = time.now();
  });
  await time.runUntil(Promise.all([working, killing()]), () => service.asked);
  return { ms: endedAt - startedAt, kills };
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;
}

/** When nothing is known yet the first window is used up at once: kills are measured from its end on. */
const LEARNT_MS = 1.2 * WINDOW_MS;

const SITUATIONS: readonly (readonly [string, Work['work']])[] = [
  ['an apply with one request at a time', async (service) => new Process(service, 1).send(600)],
  [
    'full looks of two processes',
    async (service) =>
      Promise.all([new Process(service).send(300), new Process(service).send(300)]),
  ],
  [
    'full looks with pauses between them',
    async (service) => {
      const process = new Process(service);
      for (let looks = 0; looks < 5; looks += 1) {
        await process.send(100);
        await service.time.sleep(30_000);
      }
    },
  ],
];

it.each(SITUATIONS)(
  'kills of another process go out within a second beside %s',
  { timeout: 60_000 },
  async (_, work) => {
    for (const everyMs of [2_100, 7_300]) {
      const { kills } = await measured({ work, afterMs: LEARNT_MS, everyMs });

      expect(kills.length).toBeGreaterThan(20);
      expect(p95(kills)).toBeLessThanOrEqual(1_000);
    }
  },
);

it.each([1, 8])(
  'lets the 4,089 requests of a first apply of 1,000 flags take little longer than the limit, %d at once',
  { timeout: 60_000 },
  async (atOnce) => {
    const work: Work['work'] = async (service) => new Process(service, atOnce).send(4_089);
    const { ms, kills } = await measured({ work, afterMs: LEARNT_MS, everyMs: 7_300 });

    const limitMs = ((4_089 + kills.length) / ADMITTED - 1) * WINDOW_MS;
    expect(ms / limitMs).toBeLessThanOrEqual(1.1);
  },
);

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
    await limiter.run('normal', task);
    limiter.note({ throttled: true, askedWaitMs: 20 });
    const then = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(then + days * 86_400_000);

    await expect(limiter.run('normal', task)).resolves.toBe('sent');
    await expect(limiter.run('normal', task)).resolves.toBe('sent');
  });
});

it('reads the smaller of the two counts of requests left', () => {
  const headers = { 'x-ratelimit-remaining-org': '9', 'x-ratelimit-remaining-ip': '3' };

  expect(remainingRequests(headers)).toBe(3);
  expect(remainingRequests({})).toBeUndefined();
});
