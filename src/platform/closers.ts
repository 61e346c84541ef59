/** What a run opened, to be closed in the opposite order; each once, also where another fails to close. */
export class Disposables implements AsyncDisposable {
  readonly #disposables: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#disposables.push(close);
  }

  /** @throws the first error, after all of them were called. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#disposables.pop(); close; close = this.#disposables.pop()) {
      try {
        // In sequence: what was opened last may still use what was opened first.
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
