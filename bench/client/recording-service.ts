import { startService } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { BENCH_SEED } from '../fill.js';

/**
 * The service in a process of its own, which tells at `/bench/requests` what was asked of it since it told last: method
 * and path of each request, and how many were under way at once. Run with its `StoreLocation` as JSON and, for a service
 * without bulk lists, `strict`. Says origin and key on one line.
 */
export interface Recorded {
  readonly lines: readonly string[];
  readonly atOnce: number;
}

const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
let lines: string[] = [];
let underWay = 0;
let atOnce = 0;
const service = await startService({
  store,
  seed: BENCH_SEED,
  strict: process.argv[3] === 'strict',
  middleware: (next) => (request, response) => {
    if (request.url === '/bench/requests') {
      response.end(JSON.stringify({ lines, atOnce } satisfies Recorded));
      lines = [];
      atOnce = 0;
      return;
    }
    lines.push(`${request.method ?? ''} ${request.url ?? ''}`);
    underWay += 1;
    atOnce = Math.max(atOnce, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    next(request, response);
  },
});
process.stdout.write(`${service.origin} ${await service.createKey('bench')}\n`);
