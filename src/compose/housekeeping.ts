import type { DaemonView } from '../daemon/view.js';
import { messageOf } from '../errors.js';
import { keepHouse } from '../git/housekeeping.js';
import type { Log } from '../log.js';

/** Runs of the whole daemon from one look at its repositories to the next; each leaves a few objects behind. */
const RUNS = 50;

/**
 * Packs the repositories of a daemon now and then: after the first run, which may follow many of an earlier process,
 * and then after so many.
 *
 * @param directories bare repositories of our own.
 * @returns how to give up what is under way, and stop.
 */
export function startHousekeeping(
  daemon: DaemonView,
  directories: readonly string[],
  log: Log,
): { readonly close: () => Promise<void> } {
  const ending = new AbortController();
  const isEnding = (): boolean => ending.signal.aborted;
  let runs = 0;
  let working: Promise<void> = Promise.resolve();
  const work = async (): Promise<void> => {
    for (const directory of new Set(directories)) {
      if (isEnding()) return;
      try {
        // One after the other: it is work for a whole core.
        await keepHouse(directory, ending.signal);
      } catch (error) {
        if (!isEnding()) log.warn({ why: messageOf(error) }, 'cannot keep house');
      }
    }
  };
  const unsubscribe = daemon.onRun(() => {
    if (runs % RUNS === 0) working = working.then(work);
    runs += 1;
  });
  return {
    close: async () => {
      unsubscribe();
      ending.abort();
      await working;
    },
  };
}
