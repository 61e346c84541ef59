import type { StoreLocation } from '../../src/service/store/store.js';
import { startService } from '../../src/service/service.js';
import { patiently } from './patience.js';
import { createTestKey, TEST_SEED } from './service.js';

/** A service in a process of its own: run with its `StoreLocation` as JSON. Says origin and key on one line. */
const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
const service = await startService({ store, seed: TEST_SEED });
// A store may be struck in the middle of a start; the service itself goes on.
const key = await patiently(async () => createTestKey(service), { tries: Infinity });
process.stdout.write(`${service.origin} ${key}\n`);
