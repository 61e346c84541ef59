import { defineConfig } from 'vitest/config';

/** The long runs: minutes, not seconds, and so no part of `npm test`. */
export default defineConfig({
  test: {
    name: 'chaos',
    include: ['test/chaos/**/*.test.ts'],
    environment: 'node',
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
