import type { ForgeOptions, ForgeRefusal } from './forge.js';

const MOST_TRIES = 4;
/** The longest wait that a forge may ask for; jobs cost money while they sleep. */
const LONGEST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 1_000;

/**
 * Sends a request again if the forge asks to wait and, for a repeatable request, after a fault of the forge or of the
 * network.
 *
 * @param refusalOf turns the thrown error into a refusal; if it throws itself, the retries end.
 * @throws FlagkeelError `FORGE`, with the error of the last try.
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
