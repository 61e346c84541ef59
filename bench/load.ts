import { Pool } from 'undici';
import { requestOf, type LoadJob } from './jobs.js';

/** Puts one job on a server, in a process of its own. Says what came of it on one line. */
const job = JSON.parse(process.argv[2] ?? '') as LoadJob;
/** Milliseconds from asking to the whole answer, of each request since the warm-up. */
const latencies: number[] = [];
const pool = new Pool(job.origin, { connections: job.concurrency, pipelining: 1 });

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

async function send(index: number): Promise<void> {
  const askedAt = performance.now();
  const { path, body, method = job.method } = requestOf(job, index);
  const answer = await pool.request({
    path,
    method,
    headers: { authorization: `Bearer ${job.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  latencies.push(performance.now() - askedAt);
}

function percentile(percent: number): number {
  return latencies[Math.floor((latencies.length * percent) / 100)] ?? NaN;
}

/** Sends `count` requests, and more until `leastMs` have passed; never more than the concurrency at a time. */
async function run(first: number, count: number, leastMs = 0): Promise<void> {
  const end = performance.now() + leastMs;
  let next = first;
  await Promise.all(
    Array.from({ length: job.concurrency }, async () => {
      while (next < first + count || performance.now() < end) await send(next++);
    }),
  );
}

const warmUp = Math.ceil(job.count / 5);
await run(job.first, warmUp);
latencies.length = 0;
const start = performance.now();
await run(job.first + warmUp, job.count, job.leastMs);
const seconds = (performance.now() - start) / 1_000;
latencies.sort((a, b) => a - b);
const result: LoadResult = {
  perSecond: latencies.length / seconds,
  p50: percentile(50),
  p95: percentile(95),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await pool.close();
