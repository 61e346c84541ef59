/**
 * On what the files of test/contract run: on the embedded store, on PostgreSQL, and against a service that answers
 * what the contract shows and nothing else. Files that stand in no list run on both stores.
 */

/** They choose their stores themselves, or have nothing to do with one. */
export const EMBEDDED_ONLY = [
  'command.test.ts',
  'docs-page.test.ts',
  'durability.test.ts',
  'faults.test.ts',
  'store.test.ts',
];

export const POSTGRES_ONLY = [
  'postgres.test.ts',
  'replica-leases.test.ts',
  'shared-overrides.test.ts',
  'throw-away-postgres.test.ts',
  'trigger-queue.test.ts',
];

/** They use nothing but what the contract shows, so that they run against a strict service too. */
export const STRICT = [
  'bodies.test.ts',
  'contract.test.ts',
  'description.test.ts',
  'operations.test.ts',
  'statements.test.ts',
  'strict.test.ts',
];

export type Ground = 'embedded' | 'PostgreSQL' | 'strict';

/** In the order in which documents name them. */
export function groundsOf(file: string): readonly Ground[] {
  return [
    ...(POSTGRES_ONLY.includes(file) ? [] : (['embedded'] as const)),
    ...(EMBEDDED_ONLY.includes(file) ? [] : (['PostgreSQL'] as const)),
    ...(STRICT.includes(file) ? (['strict'] as const) : []),
  ];
}
