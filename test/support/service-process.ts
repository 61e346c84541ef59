import { setTimeout as pause } from 'node:timers/promises';
import type { StoreLocation } from '../../src/service/store/store.js';
import { startService } from '../../src/service/service.js';
import { createTestKey, TEST_SEED } from './service.js';

/** A service in a process of its own: run with its `StoreLocation` as JSON. Says origin and key on one line. */
const store = JSON.parse(process.argv[2] ?? '') as StoreLocation;
const service = await startService({ store, seed: TEST_SEED });
process.stdout.write(`${service.origin} ${await keyOf()}\n`);

/** A store may be struck in the middle of a start; the service itself goes on. */
async function keyOf(): Promise<string> {
  for (;;) {
    try {
      return await createTestKey(service);
    } catch {
      await pause(100);
    }
  }
}
