/** The window is known well enough once it is known to this. */
const PRECISION_MS = 500;

/**
 * Finds out how long a service that turns requests away, and does not say for how long, goes on doing so.
 *
 * Such a service admits so many requests in a window. One that was refused some time after the first that was admitted
 * says that the window is longer than that; one that was admitted again, that it is no longer. Between the two it is
 * searched by halves. What contradicts that (others use the credential, the service is just down) starts it anew.
 */
export class WindowGuess {
  #startedAt: number | undefined;
  #isPaused = false;
  #longerThanMs = 0;
  #atMostMs = Infinity;

  /** @param now milliseconds, when a request that was sent after the pause was answered. */
  admitted(now: number): void {
    if (this.#startedAt === undefined || this.#isPaused) {
      if (this.#startedAt !== undefined) {
        this.#atMostMs = Math.min(this.#atMostMs, now - this.#startedAt);
      }
      this.#startedAt = now;
      this.#isPaused = false;
    }
    this.#startAnewIfAbsurd();
  }

  refused(now: number): void {
    this.#isPaused = true;
    if (this.#startedAt === undefined) return;
    this.#longerThanMs = Math.max(this.#longerThanMs, now - this.#startedAt);
    this.#startAnewIfAbsurd();
  }

  /** How long to wait from now on, in milliseconds; `undefined` while nothing is known. */
  waitMs(now: number): number | undefined {
    if (this.#startedAt === undefined || this.#atMostMs === Infinity) return undefined;
    const isKnown = this.#atMostMs - this.#longerThanMs <= PRECISION_MS;
    const lengthMs = isKnown ? this.#atMostMs : (this.#longerThanMs + this.#atMostMs) / 2;
    const leftMs = Math.ceil(lengthMs - (now - this.#startedAt));
    return leftMs > 0 ? leftMs : undefined;
  }

  #startAnewIfAbsurd(): void {
    if (this.#longerThanMs < this.#atMostMs) return;
    this.#longerThanMs = 0;
    this.#atMostMs = Infinity;
  }
}
