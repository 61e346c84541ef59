import { startService } from '../src/service/service.js';
import type { StoreLocation } from '../src/service/store/store.js';
import { BENCH_SEED } from './fill.js';

/** The service in a process of its own: run with its `StoreLocation` as JSON. Says origin and key on one line. */
const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
const service = await startService({ store, seed: BENCH_SEED });
process.stdout.write(`${service.origin} ${service.lendKey('bench')}\n`);
