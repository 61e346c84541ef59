import { setTimeout as sleep } from 'node:timers/promises';
import { FlaghoistError } from '../errors.js';

/**
 * Waits between two looks at a lock that another run holds.
 *
 * @throws FlaghoistError `INTERRUPTED` as soon as the signal is aborted.
 */
export async function pauseForLock(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new FlaghoistError(
      'INTERRUPTED',
      'cannot lock the state: interrupted while another run held it',
      { cause },
    );
  }
}
