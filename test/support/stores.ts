import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { ServiceOptions } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { makeDirectory } from './git.js';
import { createDatabase } from './postgres.js';
import { startTestService, type TestService } from './service.js';

/** Stores of the kind that this project tests, and services over them that end with the test. */
export interface TestStores {
  readonly running: TestService[];
  readonly aStore: () => Promise<StoreLocation>;
  readonly start: (store: StoreLocation, options?: Partial<ServiceOptions>) => Promise<TestService>;
}

export function useStores(): TestStores {
  const running: TestService[] = [];
  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop();
  });
  return {
    running,
    aStore: async () => {
      const server = process.env['TEST_POSTGRES_SERVER'];
      if (server !== undefined) return { kind: 'postgres', url: await createDatabase(server) };
      return { kind: 'directory', path: join(makeDirectory(), 'store') };
    },
    start: async (store, options) => {
      const service = await startTestService({ store, ...options });
      running.push(service);
      return service;
    },
  };
}

/** The option of `flagkeel service` that names a store. */
export function optionOf(store: StoreLocation): string[] {
  if (store.kind === 'memory') return ['--memory'];
  return store.kind === 'postgres' ? ['--database', store.url] : ['--directory', store.path];
}
