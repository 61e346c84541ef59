/** Resources of a run, closed once each in reverse order, even if one fails to close. */
export class Disposables implements AsyncDisposable {
  readonly #disposables: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#disposables.push(close);
  }

  /** @throws the first error, after closing everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#disposables.pop(); close; close = this.#disposables.pop()) {
      try {
        // In sequence, because a later resource may still use an earlier one.
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
