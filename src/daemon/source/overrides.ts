import { NOTHING_HELD } from './leadership.js';
import type { ActiveOverrides, Approval } from '../view.js';

/** Requests of operators, each with an expiry. The config's own suspension is not part of it. */
export class Overrides {
  readonly #now: () => number;
  #state: ActiveOverrides = NOTHING_HELD;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The overrides that have not expired. */
  get inForce(): ActiveOverrides {
    const { suspension, pin, approval } = this.#state;
    return {
      suspension: this.#current(suspension),
      pin: this.#current(pin),
      approval: this.#current(approval),
    };
  }

  /** When the next override expires, in milliseconds since the epoch; null if none is set. */
  get endsAt(): number | null {
    const { suspension, pin, approval } = this.#state;
    const ends = [suspension, pin, approval].flatMap((hold) => hold?.until ?? []);
    return ends.length === 0 ? null : Math.min(...ends.map(Date.parse));
  }

  /** @returns whether that changes anything now. */
  set(state: ActiveOverrides): boolean {
    const before = JSON.stringify(this.inForce);
    this.#state = state;
    return before !== JSON.stringify(this.inForce);
  }

  change(changed: Partial<ActiveOverrides>): void {
    this.#state = { ...this.#state, ...changed };
  }

  /** Removes this approval, unless another one has replaced it. @returns whether it did. */
  spend({ hash, until }: Approval): boolean {
    const { approval } = this.#state;
    // Compares values, because the approval may be a copy from another replica.
    if (approval?.hash !== hash || approval.until !== until) return false;
    this.change({ approval: null });
    return true;
  }

  /** Drops expired overrides. @returns whether a run is needed: an expired approval needs none. */
  expire(): boolean {
    const { suspension, pin } = this.#state;
    this.#state = this.inForce;
    return suspension !== this.#state.suspension || pin !== this.#state.pin;
  }

  #current<T extends { readonly until: string }>(hold: T | null): T | null {
    return hold !== null && Date.parse(hold.until) > this.#now() ? hold : null;
  }
}
