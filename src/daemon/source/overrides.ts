import type { ActiveOverrides, Approval, Pin, Suspension } from './leadership.js';
import type { Override, SourceView } from '../view.js';

/** Suspension, pin and approval by request, each with an expiry. The config's own suspension is not part of it. */
export class Overrides {
  readonly #now: () => number;
  #suspension: Suspension | null = null;
  #pin: Pin | null = null;
  #approval: Approval | null = null;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** null without a suspension, or after its expiry. */
  get suspended(): Override | null {
    return this.#current(this.#suspension);
  }

  get pinned(): SourceView['pinned'] {
    return this.#current(this.#pin);
  }

  get approved(): Approval | null {
    return this.#current(this.#approval);
  }

  /** Milliseconds until the next override expires; null if none is set. */
  get endsInMs(): number | null {
    const ends = [this.#suspension, this.#pin, this.#approval].flatMap((hold) =>
      hold === null ? [] : [Date.parse(hold.until) - this.#now()],
    );
    return ends.length === 0 ? null : Math.max(0, Math.min(...ends));
  }

  /** All overrides, expired ones included. */
  get state(): ActiveOverrides {
    return { suspension: this.#suspension, pin: this.#pin, approval: this.#approval };
  }

  /** @returns whether that changes anything now. */
  set({ suspension, pin, approval }: ActiveOverrides): boolean {
    const before = this.#inForce();
    this.#suspension = suspension;
    this.#pin = pin;
    this.#approval = approval;
    return before !== this.#inForce();
  }

  #inForce(): string {
    return JSON.stringify([this.suspended, this.pinned, this.approved]);
  }

  /** Sets only the given members. */
  change(changed: Partial<ActiveOverrides>): void {
    this.set({ ...this.state, ...changed });
  }

  /** Removes this approval, unless another one has replaced it. @returns whether it did. */
  spend(approval: Approval): boolean {
    const { hash, until } = approval;
    // Compares values, because the approval may be a copy from another replica.
    if (this.#approval?.hash !== hash || this.#approval.until !== until) return false;
    this.#approval = null;
    return true;
  }

  /** Drops expired overrides. @returns whether a run is needed: an expired approval needs none. */
  expire(): boolean {
    const before = [this.#suspension, this.#pin];
    this.#approval = this.approved;
    this.#suspension = this.#current(this.#suspension);
    this.#pin = this.#current(this.#pin);
    return before[0] !== this.#suspension || before[1] !== this.#pin;
  }

  #current<T extends { readonly until: string }>(hold: T | null): T | null {
    return hold !== null && Date.parse(hold.until) > this.#now() ? hold : null;
  }
}
