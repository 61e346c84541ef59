import { defineConfig } from 'vitest/config';

/** What mutants are held against: the quick tests of the two pure rooms, and no laws, servers or processes. */
export default defineConfig({
  test: {
    include: ['test/unit/plan/**/*.test.ts', 'test/unit/model/**/*.test.ts'],
    environment: 'node',
    // A mutant's tests share one load of the modules, which is most of what a mutant costs; every mutant has its own.
    isolate: false,
  },
});
