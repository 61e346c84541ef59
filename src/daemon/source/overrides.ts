import { ownMember } from '../../model/collections.js';
import type { Moments } from '../../model/state.js';
import type { ActiveOverrides, Approval, Pin, Suspension } from './leadership.js';
import type { Override, SourceView } from '../view.js';

/** Suspension, pin and approval by request, each of them until a time, and signals for ramps. What the config says stands elsewhere. */
export class Overrides {
  readonly #now: () => number;
  #suspension: Suspension | null = null;
  #pin: Pin | null = null;
  #approval: Approval | null = null;
  #signals: Moments | null = null;

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

  /** As `withSignals` takes them. */
  get signals(): Moments {
    return this.#signals ?? {};
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
    const [suspension, pin] = [this.#suspension, this.#pin];
    return { suspension, pin, approval: this.#approval, signals: this.#signals };
  }

  /** @returns whether that changes anything now. */
  set({ suspension, pin, approval, signals }: ActiveOverrides): boolean {
    const before = this.#inForce();
    this.#suspension = suspension;
    this.#pin = pin;
    this.#approval = approval;
    this.#signals = signals;
    return before !== this.#inForce();
  }

  #inForce(): string {
    return JSON.stringify([this.suspended, this.pinned, this.approved, this.signals]);
  }

  /** Sets these, and leaves the others as they are. */
  change(changed: Partial<ActiveOverrides>): void {
    this.set({ ...this.state, ...changed });
  }

  /** The first signal counts. @param ramp with the steps that it is for. @returns when that one came. */
  startRamp(ramp: string, at: string): string {
    const known = ownMember(this.signals, ramp);
    if (known === undefined) this.#signals = { ...this.#signals, [ramp]: at };
    return known ?? at;
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
