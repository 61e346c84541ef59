import type { ForgeOptions, ForgeRefusal } from './forge.js';

const MOST_TRIES = 4;
/** A forge that asks for more is not waited for: a job costs money while it sleeps. */
const LONGEST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 1_000;

/**
 * Sends a request again where the forge asked to wait, and, where it may be sent twice, after a fault of the forge or of
 * the network.
 *
 * @param refusalOf what was thrown, as a refusal; what it throws itself ends the tries.
 * @throws FlagkeelError `FORGE`, of the last try.
 */
export async function withRetry<T>(
  send: () => Promise<T>,
  refusalOf: (error: unknown) => ForgeRefusal,
  { wait, repeatable }: Pick<ForgeOptions, 'wait'> & { readonly repeatable: boolean },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      const refusal = refusalOf(error);
      const waitMs = refusal.waitMs ?? (isFault(refusal) && repeatable ? backoff(tries) : null);
      if (waitMs === null || waitMs > LONGEST_WAIT_MS || tries === MOST_TRIES) throw refusal.error;
      await wait(waitMs);
    }
  }
}

function isFault({ status }: ForgeRefusal): boolean {
  return status === null || status >= 500;
}

function backoff(tries: number): number {
  return FIRST_WAIT_MS * 2 ** (tries - 1);
}
