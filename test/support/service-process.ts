import { DEFAULT_SEED } from '../../src/service/seed.js';
import { createTestKey } from './service.js';
import { startService } from '../../src/service/service.js';

/**
 * A service in a process of its own, so that it can be killed: run with the directory of its store. Says origin and
 * key on one line.
 */
const service = await startService({
  store: { kind: 'directory', path: process.argv[2] ?? '' },
  seed: DEFAULT_SEED,
});
process.stdout.write(`${service.origin} ${await createTestKey(service)}\n`);
