import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { MutationPlan } from './service-mutants.js';

const ROOT = join(import.meta.dirname, '../..');
const { sources } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'reports/service-plan.json'), 'utf8'),
) as MutationPlan;

/** The tests start the service that `globalThis` names, which may be loaded anew for a mutant. */
const SERVICE = join(ROOT, 'src/service/service.ts');
const SHIM =
  'export const startService = async (options) => globalThis.serviceUnderTest.startService(options);';

/** One file of tests that runs the contract's tests for each mutant, see `service-mutants.ts`. */
export default defineConfig({
  root: ROOT,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      resolveId: (id, importer) =>
        id.endsWith('/src/service/service.js') &&
        importer?.endsWith('test/support/service.ts') === true
          ? '\0service-shim'
          : undefined,
      load: (id) => (id === '\0service-shim' ? SHIM : undefined),
      transform: (_, id) => sources[id],
    },
  ],
  test: {
    include: ['test/mutation/service-suite.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testNamePattern: '^mutants$',
    // Far longer than a test takes on a loaded machine: a slow one must not pass for one that noticed a mutant.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: true,
    env: { SERVICE: SERVICE },
    reporters: [],
  },
});
