import { setImmediate as letOthersRun } from 'node:timers/promises';

/**
 * A long list in parts, in its order. Between two parts other requests have their turn: what is done with ten thousand
 * at once would hold up all that the process does.
 *
 * @param size of each part but the last, which may be shorter. An empty list has no parts.
 */
export async function* partsOf<T>(list: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) {
    if (start > 0) await letOthersRun();
    yield list.slice(start, start + size);
  }
}
