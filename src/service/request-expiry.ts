import { callerWithoutKey } from './change-log.js';
import type { ServiceLog } from './http/key-check.js';
import { withdrawOlderThan } from './routes/change-requests.js';
import { openChangeRequestsBefore } from './store/change-requests.js';
import type { Store } from './store/store.js';

/** 30 days. */
export const REQUESTS_EXPIRE_AFTER_MS = 30 * 86_400_000;

/** The longest time between two checks of the open change requests. */
const LOOK_EVERY_MS = 60_000;

export interface ExpiryOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** How long a change request may stay open. */
  readonly afterMs: number;
  readonly log?: ServiceLog | undefined;
}

/**
 * Withdraws change requests that stayed open for too long, so that a forgotten one does not block a definition for
 * ever. Checks at once and then at least every minute; several services over one store may do so.
 *
 * @returns stops the checks, and resolves once the last one has ended.
 */
export function expireChangeRequests(options: ExpiryOptions): () => Promise<void> {
  let looking = look(options);
  const timer = setInterval(
    () => {
      looking = looking.then(async () => look(options));
    },
    Math.min(LOOK_EVERY_MS, options.afterMs),
  ).unref();
  return async () => {
    clearInterval(timer);
    await looking;
  };
}

/** If the store does not answer, the next check tries again. */
async function look({ store, clock, afterMs, log }: ExpiryOptions): Promise<void> {
  const now = clock();
  const time = now - afterMs;
  try {
    // A write waits for other writers, so it begins only if there is something to withdraw.
    const old = await store.read(async (db) => openChangeRequestsBefore(db, time));
    if (old.length === 0) return;
    const caller = callerWithoutKey('flagkeel service', now, 'The change request expired');
    await store.write(async (db) => withdrawOlderThan(db, caller, time));
  } catch (error) {
    log?.error({ error: String(error) }, 'change requests that expired were not ended');
  }
}
