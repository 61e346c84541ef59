import type { ActiveOverrides, Pin, Suspension } from './leadership.js';
import type { Override, SourceView } from '../view.js';

/** Suspension and pin by request, each of them until a time. What the config says stands elsewhere. */
export class Overrides {
  readonly #now: () => number;
  #suspension: Suspension | null = null;
  #pin: Pin | null = null;

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

  /** When the next of them ends, in milliseconds from now; null: none is set. */
  get endsInMs(): number | null {
    const ends = [this.#suspension, this.#pin].flatMap((hold) =>
      hold === null ? [] : [Date.parse(hold.until) - this.#now()],
    );
    return ends.length === 0 ? null : Math.max(0, Math.min(...ends));
  }

  /** Over or not. */
  get state(): ActiveOverrides {
    return { suspension: this.#suspension, pin: this.#pin };
  }

  /** @returns whether that changes anything now. */
  set({ suspension, pin }: ActiveOverrides): boolean {
    const before = JSON.stringify([this.suspended, this.pinned]);
    this.#suspension = suspension;
    this.#pin = pin;
    return before !== JSON.stringify([this.suspended, this.pinned]);
  }

  suspend(hold: Suspension): void {
    this.#suspension = hold;
  }

  resume(): void {
    this.#suspension = null;
  }

  pin(hold: Pin): void {
    this.#pin = hold;
  }

  unpin(): void {
    this.#pin = null;
  }

  /** Drops what is over. @returns whether anything was. */
  expire(): boolean {
    const before = [this.#suspension, this.#pin];
    this.#suspension = this.#current(this.#suspension);
    this.#pin = this.#current(this.#pin);
    return before[0] !== this.#suspension || before[1] !== this.#pin;
  }

  #current<T extends { readonly until: string }>(hold: T | null): T | null {
    return hold !== null && Date.parse(hold.until) > this.#now() ? hold : null;
  }
}
