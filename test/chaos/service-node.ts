import { startService } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { TEST_SEED } from '../support/service.js';

/** A service in a process of its own, so that it can be killed: run with its `StoreLocation` as JSON. Says its origin. */
const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
const service = await startService({ store, seed: TEST_SEED });
process.stdout.write(`${service.origin}\n`);
