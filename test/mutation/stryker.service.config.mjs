import { readFileSync } from 'node:fs';

const rooms = JSON.parse(readFileSync('test/mutation/stryker.config.json', 'utf8'));

/** Rules and routes of the service, held against the contract's tests over HTTP. */
export default {
  ...rooms,
  vitest: { ...rooms.vitest, configFile: 'test/mutation/vitest.service.config.ts' },
  mutate: ['src/service/rules/**/*.ts', 'src/service/routes/**/*.ts'],
  incrementalFile: 'test/mutation/reports/service-incremental.json',
  jsonReporter: { fileName: 'test/mutation/reports/service.json' },
  dryRunTimeoutMinutes: 30,
  thresholds: { high: 95, low: 90, break: 90 },
};
