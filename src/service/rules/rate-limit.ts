export interface RateLimit {
  readonly requests: number;
  readonly perSeconds: number;
}

export interface Allowance {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the window ends; at least 1. */
  readonly resetSeconds: number;
}

/** Windows start with a caller's first request. Counts in memory, so that each process grants the whole limit. */
export class RequestCounter {
  readonly #limit: RateLimit;
  readonly #windows = new Map<string, { endsAt: number; used: number }>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  take(caller: string, now: number): Allowance {
    const window = this.#windowOf(caller, now);
    window.used += 1;
    return {
      allowed: window.used <= this.#limit.requests,
      remaining: Math.max(0, this.#limit.requests - window.used),
      resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1_000)),
    };
  }

  #windowOf(caller: string, now: number): { endsAt: number; used: number } {
    const current = this.#windows.get(caller);
    const fresh = { endsAt: now + this.#limit.perSeconds * 1_000, used: 0 };
    // A window that ends later than a new one began before the clock was set back.
    const isOpen = (endsAt: number): boolean => endsAt > now && endsAt <= fresh.endsAt;
    if (current !== undefined && isOpen(current.endsAt)) return current;
    // Without this, ended windows would pile up, one for each address that ever sent a request.
    for (const [each, { endsAt }] of this.#windows) {
      if (!isOpen(endsAt)) this.#windows.delete(each);
    }
    this.#windows.set(caller, fresh);
    return fresh;
  }
}
