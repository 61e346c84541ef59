import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], extra: object = {}) => ({
  test: { name, include, environment: 'node', ...extra },
});

export default defineConfig({
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    projects: [
      project('unit', ['test/unit/**/*.test.ts', 'test/architecture.test.ts']),
      project('property', ['test/property/**/*.test.ts'], { testTimeout: 60_000 }),
      project('contract', ['test/contract/**/*.test.ts'], { testTimeout: 30_000 }),
      project('e2e', ['test/e2e/**/*.test.ts'], { testTimeout: 120_000, hookTimeout: 60_000 }),
    ],
  },
});
