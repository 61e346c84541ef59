import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { POSTGRES_ONLY } from '../support/contract-projects.js';

/** They start processes, look into the store, or are about what has other tests. */
const LEFT_OUT = [
  ...['backup', 'command', 'console', 'console-sessions', 'memory', 'metrics'],
  ...['served-specs', 'store'],
].map((name) => `${name}.test.ts`);

/** What mutants of the service are held against: the contract over HTTP, on the store in memory. */
export default defineConfig({
  test: {
    include: readdirSync('test/contract')
      .filter((file) => ![...POSTGRES_ONLY, ...LEFT_OUT].includes(file))
      .map((file) => `test/contract/${file}`),
    exclude: ['**/*.slow.test.ts'],
    environment: 'node',
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
