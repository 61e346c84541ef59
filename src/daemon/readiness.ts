import type { SourceView } from './view.js';

/**
 * What keeps a source from being ready: one clause each, empty where nothing does. A replica that waits its turn is
 * ready without a first sync of its own.
 */
export function missingFor({ firstSync, leader, troubles }: SourceView): string[] {
  return [
    ...troubles.map(({ what, why }) => `${what} not reachable: ${why}`),
    ...(firstSync || !leader ? [] : ['no run has succeeded since the start']),
  ];
}

export function isReady(source: SourceView): boolean {
  return missingFor(source).length === 0;
}
