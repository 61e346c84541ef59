import { startService } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { BENCH_SEED } from '../fill.js';

/**
 * The service in a process of its own, which tells at `/bench/requests` what was asked of it since it told last: method
 * and path of each request, how many were under way at once, and when each PATCH ended. Run with its `StoreLocation` as JSON and, for
 * a service without bulk lists, `strict`. Says origin and key on one line.
 *
 * At `/bench/slow` it begins to take 30 ms more for every request.
 *
 * At `/bench/limit?admitted=20` it begins to admit so many requests in any 10 s, and to turn the others away with a 429
 * that says nothing.
 */
export interface Recorded {
  readonly lines: readonly string[];
  readonly atOnce: number;
  /** Path of each PATCH that was admitted → when its answer had ended, in milliseconds since the epoch. */
  readonly patchedAt: Readonly<Record<string, number>>;
  /** Writes that were accepted. */
  readonly accepted: number;
}

const WINDOW_MS = 10_000;
const SLOW_MS = 30;

const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
let lines: string[] = [];
let underWay = 0;
let atOnce = 0;
let patchedAt: Record<string, number> = {};
let accepted = 0;
let mostAdmitted = Number.POSITIVE_INFINITY;
let isSlow = false;
let admitted: number[] = [];

/** Whether the request is one of those of the last 10 s; those that are turned away do not count. */
function isAdmitted(): boolean {
  if (mostAdmitted === Number.POSITIVE_INFINITY) return true;
  const now = performance.now();
  admitted = admitted.filter((at) => at > now - WINDOW_MS);
  if (admitted.length >= mostAdmitted) return false;
  admitted.push(now);
  return true;
}

const service = await startService({
  store,
  seed: BENCH_SEED,
  strict: process.argv[3] === 'strict',
  middleware: (next) => (request, response) => {
    if (request.url === '/bench/requests') {
      response.end(JSON.stringify({ lines, atOnce, patchedAt, accepted } satisfies Recorded));
      lines = [];
      atOnce = 0;
      patchedAt = {};
      accepted = 0;
      return;
    }
    if (request.url === '/bench/slow') {
      isSlow = true;
      response.end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    if (pathname === '/bench/limit') {
      mostAdmitted = Number(searchParams.get('admitted'));
      response.end();
      return;
    }
    if (!isAdmitted()) {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 429, message: 'too many requests' }));
      return;
    }
    lines.push(`${request.method ?? ''} ${request.url ?? ''}`);
    underWay += 1;
    atOnce = Math.max(atOnce, underWay);
    response.once('close', () => {
      underWay -= 1;
      if (request.method !== 'GET' && response.statusCode < 400) accepted += 1;
      if (request.method === 'PATCH') patchedAt[request.url ?? ''] = Date.now();
    });
    if (isSlow) setTimeout(next, SLOW_MS, request, response);
    else next(request, response);
  },
});
process.stdout.write(`${service.origin} ${service.lendKey('bench')}\n`);
