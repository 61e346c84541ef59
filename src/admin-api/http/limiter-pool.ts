import { createHash } from 'node:crypto';
import { RequestLimiter } from './rate-limiter.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import { steadyTime } from '../../platform/clock.js';

/** Keys that were rotated leave limiters behind; so many are kept. */
const MAX_LIMITERS = 64;

/** Limiters of a process that runs more than once: one for each service and credential, as services count. */
export class Limiters {
  readonly #limiters = new BoundedMap<string, RequestLimiter>(MAX_LIMITERS);

  /** @param concurrency of the first who asks: places for requests at the same time. */
  of(
    { origin, key }: { readonly origin: string; readonly key: string },
    { concurrency, note }: { concurrency?: number | undefined; note: (text: string) => void },
  ): RequestLimiter {
    // The key itself is kept nowhere.
    const id = `${origin} ${createHash('sha256').update(key).digest('hex')}`;
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
