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

/**
 * Counts the requests of each caller. Windows start with the first. Counts in memory, so that each process grants the
 * whole limit.
 */
export function requestCounter({ requests, perSeconds }: RateLimit) {
  const windows = new Map<string, { endsAt: number; used: number }>();
  return (caller: string, now: number): Allowance => {
    const fresh = { endsAt: now + perSeconds * 1_000, used: 0 };
    // A window that ends later than a new one began before the clock was set back.
    const isOpen = ({ endsAt }: typeof fresh): boolean => endsAt > now && endsAt <= fresh.endsAt;
    let window = windows.get(caller);
    if (window === undefined || !isOpen(window)) {
      // Without this, ended windows would pile up, one for each address that ever sent a request.
      for (const [each, known] of windows) if (!isOpen(known)) windows.delete(each);
      window = fresh;
      windows.set(caller, window);
    }
    window.used += 1;
    return {
      allowed: window.used <= requests,
      remaining: Math.max(0, requests - window.used),
      resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1_000)),
    };
  };
}
