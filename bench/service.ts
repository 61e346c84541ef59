import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { request } from 'undici';
import type { StoreLocation } from '../src/service/store/store.js';
import { startPostgres } from '../test/support/postgres.js';
import { lacks } from '../test/support/requirements.js';
import { fillStore } from './fill.js';
import type { LoadResult } from './load.js';
import { JOB_NAMES, JOBS, requestOf, SERVICE_PREFIX, type JobName, type LoadJob } from './jobs.js';

/**
 * Measures the service against a bare server of the same stack that sends the same bytes. Each round measures both, one
 * right after the other, so that what else the machine does meets both; the next round has them in the other order. The
 * result is the median of the rounds' ratios. Requests per second are those of this machine.
 *
 * Usage: `bench/service.ts [embedded|postgres]… [JOB]…`; default: all stores, all jobs. `BENCH_FLAGS`,
 * `BENCH_ROUNDS` and `BENCH_SHARE` (of the requests) make it smaller; `BENCH_LEAST_MS` makes each side last longer.
 */
const FLAGS = Number(process.env['BENCH_FLAGS'] ?? 10_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const SHARE = Number(process.env['BENCH_SHARE'] ?? 1);
/** In less time a server answers only some hundred uploads, and its rate varies by a third from round to round. */
const LEAST_MS = Number(process.env['BENCH_LEAST_MS'] ?? 0);
/** More than the requests of one round, so that rounds that write never write the same. */
const NUMBERS_PER_ROUND = 1_000_000;
const TSX = ['--import', 'tsx'];

type StoreName = 'embedded' | 'postgres';

interface Server {
  readonly origin: string;
  readonly key: string;
  readonly stop: () => void;
}

interface Measured {
  /** Requests per second; median of the rounds. */
  readonly service: number;
  readonly bare: number;
  /** Median of the ratios of the rounds: what disturbs a round disturbs both. */
  readonly ratio: number;
  /** Milliseconds to the whole answer of the service; medians of the rounds. */
  readonly p50: number;
  readonly p95: number;
}

async function startServer(script: string, ...parameters: string[]): Promise<Server> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...TSX, join(import.meta.dirname, script), ...parameters],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (child.stdout === null) throw new Error('bug: a server without output');
  for await (const line of createInterface(child.stdout)) {
    const [origin = '', key = ''] = line.split(' ');
    return { origin, key, stop: () => child.kill('SIGKILL') };
  }
  throw new Error(`cannot start ${script}`);
}

async function load(job: LoadJob): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...TSX,
    join(import.meta.dirname, 'load.ts'),
    JSON.stringify(job),
  ]);
  return JSON.parse(stdout) as LoadResult;
}

/** The bare server sends what the service sends to the first request of the job. */
async function teach(bare: Server, job: LoadJob): Promise<void> {
  const { path, body } = requestOf(job, job.first);
  const answer = await request(`${job.origin}${path}`, {
    method: job.method,
    headers: { authorization: `Bearer ${job.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`cannot start ${job.name}: ${text}`);
  const taught = await request(`${bare.origin}/answers/${job.name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  await taught.body.dump();
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

async function measure(name: JobName, service: Server, bare: Server): Promise<Measured> {
  const { method, concurrency, anew = false } = JOBS[name];
  const count = Math.ceil(JOBS[name].count * SHARE);
  // Without a second answer to the same question, the number of questions is limited.
  const leastMs = anew ? 0 : LEAST_MS;
  const common = { name, method, count, leastMs, concurrency, flags: FLAGS, key: service.key };
  const ours = { ...common, origin: service.origin, prefix: SERVICE_PREFIX };
  await teach(bare, { ...ours, first: 0 });
  const rounds: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = 1 + round * NUMBERS_PER_ROUND;
    if (anew) await changeSomething({ ...ours, first });
    const runs = {
      ours: async () => load({ ...ours, first }),
      floor: async () => load({ ...common, origin: bare.origin, prefix: `/${name}`, first }),
    };
    const early = round % 2 === 0 ? await runs.floor() : undefined;
    const { perSecond, p50, p95 } = await runs.ours();
    const floor = early ?? (await runs.floor());
    const ratio = perSecond / floor.perSecond;
    rounds.push({ service: perSecond, bare: floor.perSecond, ratio, p50, p95 });
  }
  return {
    service: median(rounds.map((each) => each.service)),
    bare: median(rounds.map((each) => each.bare)),
    ratio: median(rounds.map(({ ratio }) => ratio)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p95: median(rounds.map(({ p95 }) => p95)),
  };
}

/** What every answer may depend on, so that nothing that was remembered outlives it. */
async function changeSomething({ origin, prefix, key, name, first }: LoadJob): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: `${name}-${first}` });
  const path = `${origin}${prefix}/trafficTypes/ws/Default`;
  const answer = await request(path, { method: 'POST', headers, body });
  if (answer.statusCode !== 200) throw new Error(`cannot change: ${await answer.body.text()}`);
  await answer.body.dump();
}

async function bench(store: StoreName, location: StoreLocation, jobs: readonly JobName[]) {
  const filling = Date.now();
  await fillStore(location, FLAGS);
  const seconds = ((Date.now() - filling) / 1_000).toFixed(0);
  write(`\n${store}: ${FLAGS} flags in 3 environments, filled in ${seconds} s\n`);
  write(
    '| operation | requests/s | bare fastify | ratio | p50 ms | p95 ms |\n|---|---:|---:|---:|---:|---:|',
  );
  const bare = await startServer('bare-process.ts');
  const service = await startServer('service-process.ts', JSON.stringify(location));
  try {
    for (const name of jobs) {
      const measured = await measure(name, service, bare);
      const figures = [measured.service, measured.bare].map((each) => each.toFixed(0));
      const times = [measured.p50, measured.p95].map((each) => each.toFixed(1));
      const cells = [JOBS[name].title, ...figures, measured.ratio.toFixed(2), ...times];
      write(`| ${cells.join(' | ')} |`);
    }
  } finally {
    service.stop();
    bare.stop();
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

const wanted = process.argv.slice(2);
const named = JOB_NAMES.filter((name) => wanted.includes(name));
const jobs = named.length === 0 ? JOB_NAMES : named;
const wants = (store: StoreName): boolean =>
  wanted.includes(store) || !(wanted.includes('embedded') || wanted.includes('postgres'));

if (wants('embedded')) {
  const path = mkdtempSync(join(tmpdir(), 'flagkeel-bench-'));
  try {
    await bench('embedded', { kind: 'directory', path }, jobs);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
if (wants('postgres') && !lacks('postgresql')) {
  const postgres = await startPostgres();
  try {
    await bench('postgres', { kind: 'postgres', url: postgres.url }, jobs);
  } finally {
    await postgres.stop();
  }
}
