import { FlaghoistError } from '../errors.js';
import type { StateHome } from '../git/state-home.js';

/**
 * Locks the state of a run that writes, and says so where that means waiting.
 *
 * @throws FlaghoistError `IN_USE`, `INTERRUPTED`
 */
export async function lockState(
  home: StateHome,
  timeoutMs: number,
  { signal, note }: { readonly signal: AbortSignal; readonly note: (text: string) => void },
): ReturnType<StateHome['lock']> {
  if (timeoutMs === 0) return home.lock(0, signal);
  try {
    return await home.lock(0, signal);
  } catch (error) {
    if (!(error instanceof FlaghoistError) || error.code !== 'IN_USE') throw error;
    note(`waiting for another run to end, ${Math.ceil(timeoutMs / 1_000)} s at most`);
    return home.lock(timeoutMs, signal);
  }
}
