import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { startService } from '../src/service/service.js';
import type { StoreLocation } from '../src/service/store/store.js';
import { startPostgres } from '../test/support/postgres.js';
import { lacks } from '../test/support/requirements.js';
import { fillStore, BENCH_SEED, EMPTY_SEGMENT, flagName } from './fill.js';
import { SERVICE_PREFIX } from './jobs.js';

/**
 * Measures how long the largest requests hold the event loop of the administration service, which is how long everybody
 * else waits for it: the service runs in a process of its own and looks at its own clock.
 *
 * Usage: `bench/event-loop.ts`. `BENCH_FLAGS` (10,000) and `BENCH_ROUNDS` (3) make it smaller.
 */
const FLAGS = Number(process.env['BENCH_FLAGS'] ?? 10_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MANY = 10_000;

interface Job {
  readonly name: string;
  readonly run: (call: Call) => Promise<void>;
}

type Call = (method: string, path: string, body?: unknown, status?: number) => Promise<void>;

const keys = (prefix: string): string[] =>
  Array.from({ length: MANY }, (_, index) => `${prefix}-${index}`);

const SEGMENT = `/segments/dev/${EMPTY_SEGMENT}`;
const DEFINITION = `/splits/ws/Default/${flagName(0)}/environments/dev`;

const JOBS: readonly Job[] = [
  {
    name: 'nothing, for a second: what the machine does',
    run: async () => wait(1_000),
  },
  {
    name: '10,000 identities of five attributes',
    run: async (call) => {
      const values = {
        plan: 'business',
        seats: 25,
        country: 'de',
        since: 1_700_000_000,
        paid: 'yes',
      };
      const identities = keys('identity').map((key) => ({ key, values }));
      await call('POST', '/trafficTypes/user/environments/dev/identities', identities);
    },
  },
  {
    name: '100,000 keys, 10,000 at a time',
    run: async (call) => {
      for (let part = 0; part < 10; part += 1) {
        await call('PUT', `${SEGMENT}/upload`, keys(`key-${part}`));
      }
    },
  },
  {
    name: 'removal of 10,000 of 100,000 keys',
    run: async (call) =>
      call('PUT', `${SEGMENT}/removeKeys`, { keys: keys('key-0'), comment: 'c' }),
  },
  {
    name: 'PATCH that sets 36,000 individual targets, as many as a definition holds',
    run: async (call) => {
      const value = [...keys('a'), ...keys('b'), ...keys('c'), ...keys('d').slice(0, 6_000)];
      await call('PATCH', DEFINITION, [{ op: 'add', path: '/treatments/0/keys', value }]);
    },
  },
  {
    name: 'PATCH of that definition, from 36,000 targets to 10,000',
    run: async (call) =>
      call('PATCH', DEFINITION, [{ op: 'add', path: '/treatments/0/keys', value: keys('target') }]),
  },
  {
    name: 'PATCH of 10,000 operations',
    run: async (call) =>
      call(
        'PATCH',
        DEFINITION,
        keys('end').map((value) => ({ op: 'add', path: '/treatments/0/keys/-', value })),
      ),
  },
  {
    name: 'PATCH that shifts 20 million elements, as many as it may',
    run: async (call) => {
      const first = keys('first').slice(0, 900);
      await call(
        'PATCH',
        DEFINITION,
        first.map((value) => ({ op: 'add', path: '/treatments/0/keys/0', value })),
      );
    },
  },
  {
    name: 'PATCH whose copies double',
    run: async (call) =>
      call(
        'PATCH',
        DEFINITION,
        Array.from({ length: 24 }, () => ({ op: 'copy', from: '/rules', path: '/rules/-' })),
        400,
      ),
  },
  {
    name: 'PATCH that sets 250 rules of 20 matchers, as many as a definition has',
    run: async (call) => {
      const matchers = Array.from({ length: 20 }, (_, index) => ({ type: `TYPE_${index}` }));
      const rule = { buckets: [{ treatment: 'on', size: 100 }], condition: { matchers } };
      await call('PATCH', DEFINITION, [
        { op: 'add', path: '/treatments/0/keys', value: [] },
        { op: 'replace', path: '/rules', value: Array.from({ length: 250 }, () => rule) },
      ]);
    },
  },
  {
    name: 'PATCH of the last matcher of that definition',
    run: async (call) =>
      call('PATCH', DEFINITION, [
        {
          op: 'add',
          path: '/rules/249/condition/matchers/19/string',
          value: String(Date.now()),
        },
      ]),
  },
  {
    name: `list of all ${FLAGS} definitions, page by page`,
    run: async (call) => {
      for (let offset = 0; offset < FLAGS; offset += 50) {
        await call('GET', `/splits/ws/Default/environments/dev?limit=50&offset=${offset}`);
      }
    },
  },
];

/** How long something was held at most, in milliseconds. */
interface Held {
  /** By the clock, as `monitorEventLoopDelay` has it: the time in which other programs had the processor counts too. */
  readonly clock: number;
  /** Of the processor, between two turns of a timer: what the service itself needed. */
  readonly processor: number;
}

/** The service: says where it is, and at each message how long its event loop was held at most since the last one. */
async function serve(location: StoreLocation): Promise<void> {
  await fillStore(location, FLAGS);
  const service = await startService({ store: location, seed: BENCH_SEED });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let processor = 0;
  let before = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    processor = Math.max(processor, (user + system) / 1e3);
    before = process.cpuUsage();
  }, 1);
  process.on('message', () => {
    // The message may come before the clocks have seen the end of what held them.
    setTimeout(() => {
      process.send?.({ clock: delay.max / 1e6, processor });
      delay.reset();
      processor = 0;
    }, 20);
  });
  process.send?.({ origin: service.origin, key: service.lendKey('bench') });
}

/** What the service says next. */
async function heard<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, 'message')) as [T];
  return message;
}

async function heldIn(child: ChildProcess): Promise<Held> {
  const answer = heard<Held>(child);
  child.send('how long');
  return answer;
}

async function measure(store: string, location: StoreLocation): Promise<void> {
  const child = fork(import.meta.filename, [JSON.stringify(location)], {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const { origin, key } = await heard<{ origin: string; key: string }>(child);
    const call: Call = async (method, path, body, status = 200) => {
      const answer = await request(`${origin}${SERVICE_PREFIX}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== status) throw new Error(`${method} ${path}: ${text.slice(0, 500)}`);
    };
    for (const { name, run } of JOBS) {
      const clock: number[] = [];
      const processor: number[] = [];
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await heldIn(child);
        const start = performance.now();
        await run(call);
        took.push(performance.now() - start);
        const held = await heldIn(child);
        clock.push(held.clock);
        processor.push(held.processor);
      }
      const list = (values: number[]): string => values.map((value) => value.toFixed(0)).join(', ');
      process.stdout.write(
        `${store}: ${name}: held ${list(processor)} ms of the processor, ${list(clock)} ms by the clock; took ${list(took)} ms\n`,
      );
    }
  } finally {
    child.kill('SIGKILL');
  }
}

const [given] = process.argv.slice(2);
if (given !== undefined) await serve(JSON.parse(given) as StoreLocation);
else {
  const path = mkdtempSync(join(tmpdir(), 'bench-event-loop-'));
  try {
    await measure('directory', { kind: 'directory', path });
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
  if (!lacks('postgresql')) {
    const postgres = await startPostgres();
    try {
      await measure('PostgreSQL', { kind: 'postgres', url: postgres.url });
    } finally {
      await postgres.stop();
    }
  }
}
