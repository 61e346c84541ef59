/**
 * On what the files of test/contract run: on the embedded store, on PostgreSQL, and against a service that answers
 * what the contract shows and nothing else. All run on the embedded store but those that need PostgreSQL.
 */

/** They reach the statements that the store sends, so that these are tried on both databases. The rest is above the store. */
const ON_BOTH_STORES = [
  'applications.test.ts',
  'archive.test.ts',
  'attributes.test.ts',
  'backup.test.ts',
  'beyond.test.ts',
  'change-requests.test.ts',
  'console-sessions.test.ts',
  'contract.test.ts',
  'integrity.test.ts',
  'keys-law.test.ts',
  'log-expiry.test.ts',
  'memory.test.ts',
  'metrics.test.ts',
  'traces.test.ts',
];

export const POSTGRES_ONLY = [
  'postgres.test.ts',
  'replica-leases.test.ts',
  'shared-overrides.test.ts',
  'trigger-queue.test.ts',
];

export const ON_POSTGRES = [...ON_BOTH_STORES, ...POSTGRES_ONLY];

/** They use nothing but what the contract shows, so that they run against a strict service too. */
export const STRICT = ['bodies.test.ts', 'contract.test.ts', 'operations.test.ts'];

/** It starts a strict service itself: to run it on that ground would be the same run again. */
const STRICT_BY_ITSELF = ['strict.test.ts'];

type Ground = 'embedded' | 'PostgreSQL' | 'strict';

/** In the order in which documents name them. */
export function groundsOf(file: string): readonly Ground[] {
  return [
    ...(POSTGRES_ONLY.includes(file) ? [] : (['embedded'] as const)),
    ...(ON_POSTGRES.includes(file) ? (['PostgreSQL'] as const) : []),
    ...([...STRICT, ...STRICT_BY_ITSELF].includes(file) ? (['strict'] as const) : []),
  ];
}
