import { sha256 } from '../../model/json.js';
import { RequestLimiter } from './rate-limiter.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import { steadyTime } from '../../platform/clock.js';

/** Most limiters to keep, because rotated keys leave old ones behind. */
const MAX_LIMITERS = 64;

/** Limiters for repeated runs in a process: one per service and credential, because services count by those. */
export class Limiters {
  readonly #limiters = new BoundedMap<string, RequestLimiter>(MAX_LIMITERS);

  /** @param concurrency most simultaneous requests; only the first call for a credential sets it. */
  of(
    { origin, key }: { readonly origin: string; readonly key: string },
    { concurrency, note }: { concurrency?: number | undefined; note: (text: string) => void },
  ): RequestLimiter {
    // A hash, so that the key itself is not kept.
    const id = `${origin} ${sha256(key)}`;
    const known = this.#limiters.get(id);
    if (known) return known;
    const limiter = new RequestLimiter({
      time: steadyTime,
      ...(concurrency !== undefined && { maxConcurrent: concurrency }),
      onPause: ({ waitMs, waiting }) => {
        note(`waiting ${Math.ceil(waitMs / 1_000)} s for the service: ${waiting} requests wait`);
      },
    });
    this.#limiters.set(id, limiter);
    return limiter;
  }
}
