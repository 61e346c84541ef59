import type { ActiveOverrides, Approval, Pin, Suspension } from './leadership.js';
import type { Override, SourceView } from '../view.js';

/** Suspension, pin and approval by request, each of them until a time. What the config says stands elsewhere. */
export class Overrides {
  readonly #now: () => number;
  #suspension: Suspension | null = null;
  #pin: Pin | null = null;
  #approval: Approval | null = null;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Null: none, or its time is over. */
  get suspended(): Override | null {
    return this.#current(this.#suspension);
  }

  get pinned(): SourceView['pinned'] {
    return this.#current(this.#pin);
  }

  get approved(): Approval | null {
    return this.#current(this.#approval);
  }

  /** When the next of them ends, in milliseconds from now; null: none is set. */
  get endsInMs(): number | null {
    const ends = [this.#suspension, this.#pin, this.#approval].flatMap((hold) =>
      hold === null ? [] : [Date.parse(hold.until) - this.#now()],
    );
    return ends.length === 0 ? null : Math.max(0, Math.min(...ends));
  }

  /** Over or not. */
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

  /** Sets these, and leaves the others as they are. */
  change(changed: Partial<ActiveOverrides>): void {
    this.set({ ...this.state, ...changed });
  }

  /** Takes this approval back, unless there is another one by now. @returns whether that was done. */
  spend(approval: Approval): boolean {
    const { hash, until } = approval;
    // Replicas tell each other by value.
    if (this.#approval?.hash !== hash || this.#approval.until !== until) return false;
    this.#approval = null;
    return true;
  }

  /** Drops what is over. @returns whether anything was. An approval that is over needs no run. */
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
