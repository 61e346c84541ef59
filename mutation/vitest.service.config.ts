import { defineConfig } from 'vitest/config';

/** What mutants of the administration service are held against: its contract over HTTP, on the store in memory, and its rules by themselves. */
export default defineConfig({
  test: {
    include: [
      'test/unit/service/**/*.test.ts',
      ...[
        'access',
        'beyond',
        'beyond-bodies',
        'bodies',
        'contract',
        'habits',
        'integrity',
        'keys-file',
        'statements',
      ].map((name) => `test/contract/${name}.test.ts`),
    ],
    environment: 'node',
    testTimeout: 30_000,
    isolate: false,
  },
});
