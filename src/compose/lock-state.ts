import { FlaghoistError } from '../errors.js';
import type { StateHome } from '../git/state-home.js';
import type { Fence } from '../model/fence.js';

/** How long to wait for another run, and who is told that it is waited. */
export interface LockWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/**
 * Locks the state of a run that writes, and says so where that means waiting.
 *
 * @param fence absent: there are no replicas.
 * @throws FlaghoistError `IN_USE`, `INTERRUPTED`
 */
export async function lockState(
  home: StateHome,
  { timeoutMs, signal, note }: LockWait,
  fence?: Fence,
): ReturnType<StateHome['lock']> {
  if (timeoutMs === 0) return home.lock(0, signal, fence);
  try {
    return await home.lock(0, signal, fence);
  } catch (error) {
    if (!(error instanceof FlaghoistError) || error.code !== 'IN_USE') throw error;
    note(`waiting for another run to end, ${Math.ceil(timeoutMs / 1_000)} s at most`);
    return home.lock(timeoutMs, signal, fence);
  }
}
