import { Pool } from 'undici';
import { requestOf, type LoadJob } from './jobs.js';

/** Puts one job on a server, in a process of its own. Says the requests per second on one line. */
const job = JSON.parse(process.argv[2] ?? '') as LoadJob;
const pool = new Pool(job.origin, { connections: job.concurrency, pipelining: 1 });

async function send(index: number): Promise<void> {
  const { path, body, method = job.method } = requestOf(job, index);
  const answer = await pool.request({
    path,
    method,
    headers: { authorization: `Bearer ${job.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
}

/** Sends `count` requests, never more than the concurrency at a time. */
async function run(first: number, count: number): Promise<void> {
  let next = first;
  await Promise.all(
    Array.from({ length: job.concurrency }, async () => {
      while (next < first + count) await send(next++);
    }),
  );
}

const warmUp = Math.ceil(job.count / 5);
await run(job.first, warmUp);
const start = process.hrtime.bigint();
await run(job.first + warmUp, job.count);
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
process.stdout.write(`${job.count / seconds}\n`);
await pool.close();
