import { setImmediate as letOthersRun } from 'node:timers/promises';

/** Work on a definition of this many characters takes milliseconds. */
const LONG_TEXT = 16 * 1024;

/** For a short text that would take longer than the work on it. */
export async function letOthersRunIfLong(text: string): Promise<void> {
  if (text.length > LONG_TEXT) await letOthersRun();
}

/** Between two parts other requests get their turn: work on ten thousand items at once would block the process. */
export async function* partsOf<T>(list: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) {
    if (start > 0) await letOthersRun();
    yield list.slice(start, start + size);
  }
}
