import { setImmediate as letOthersRun } from 'node:timers/promises';

/** Work on a definition of so many characters takes milliseconds. */
const LONG_TEXT = 16 * 1024;

/** Gives other requests their turn between two parts of the work on a long text; for a short one the turn takes longer than the work. */
export async function letOthersRunIfLong(text: string): Promise<void> {
  if (text.length > LONG_TEXT) await letOthersRun();
}

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
