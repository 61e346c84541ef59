import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import type { StoreLocation } from '../src/service/store/store.js';
import { startPostgres } from '../test/support/postgres.js';
import { lacks } from '../test/support/requirements.js';
import { medianOf, startServer, TSX, type Server } from './client/measure.js';
import { line, table, whole } from './client/table.js';
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

type StoreName = 'embedded' | 'postgres';

/** Of the service and of the bare server, in one round. */
interface Round {
  readonly ours: LoadResult;
  readonly floor: LoadResult;
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

async function measure(name: JobName, service: Server, bare: Server): Promise<Round[]> {
  const { method, concurrency, anew = false } = JOBS[name];
  const count = Math.ceil(JOBS[name].count * SHARE);
  // Without a second answer to the same question, the number of questions is limited.
  const leastMs = anew ? 0 : LEAST_MS;
  const common = { name, method, count, leastMs, concurrency, flags: FLAGS, key: service.key };
  const ours = { ...common, origin: service.origin, prefix: SERVICE_PREFIX };
  await teach(bare, { ...ours, first: 0 });
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = 1 + round * NUMBERS_PER_ROUND;
    if (anew) await changeSomething({ ...ours, first });
    const runs = {
      ours: async () => load({ ...ours, first }),
      floor: async () => load({ ...common, origin: bare.origin, prefix: `/${name}`, first }),
    };
    const early = round % 2 === 0 ? await runs.floor() : undefined;
    const own = await runs.ours();
    rounds.push({ ours: own, floor: early ?? (await runs.floor()) });
  }
  return rounds;
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
  const seconds = whole((Date.now() - filling) / 1_000);
  table(`${store}: ${FLAGS} flags in 3 environments, filled in ${seconds} s`, [
    ...['operation', 'requests/s', 'bare fastify', 'ratio', 'p50 ms', 'p95 ms'],
  ]);
  const bare = await startServer('bare-process.ts');
  const service = await startServer('service-process.ts', JSON.stringify(location));
  try {
    for (const name of jobs) {
      // What disturbs a round disturbs both, so that the ratios of the rounds count.
      const of = medianOf(await measure(name, service, bare));
      line([
        JOBS[name].title,
        whole(of(({ ours }) => ours.perSecond)),
        whole(of(({ floor }) => floor.perSecond)),
        of(({ ours, floor }) => ours.perSecond / floor.perSecond).toFixed(2),
        ...[of(({ ours }) => ours.p50), of(({ ours }) => ours.p95)].map((ms) => ms.toFixed(1)),
      ]);
    }
  } finally {
    service.stop();
    bare.stop();
  }
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
