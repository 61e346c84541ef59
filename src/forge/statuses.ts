import { messageOf } from '../errors.js';
import type { CommitStatus, Forge } from './forge.js';

export type ReviewStatus = Pick<CommitStatus, 'state' | 'description'>;

/** The commit statuses of one review: set to pending together, and set to a final state on every path. */
export class Statuses {
  readonly #forge: Forge;
  readonly #contexts: readonly string[];

  constructor(forge: Forge, contexts: readonly string[]) {
    this.#forge = forge;
    this.#contexts = contexts;
  }

  /** @throws FlagkeelError `FORGE` */
  async open(description: string): Promise<void> {
    for (const context of this.#contexts) {
      await this.#forge.setStatus({ context, state: 'pending', description });
    }
  }

  /**
   * Sets every status, even if one of them fails.
   *
   * @param statusOf the status of one context.
   * @throws Error the first failure.
   */
  async close(statusOf: (context: string) => ReviewStatus): Promise<void> {
    const failed: unknown[] = [];
    for (const context of this.#contexts) {
      await this.#forge.setStatus({ context, ...statusOf(context) }).catch((error: unknown) => {
        failed.push(error);
      });
    }
    if (failed.length > 0)
      throw failed[0] instanceof Error ? failed[0] : new Error(messageOf(failed[0]));
  }
}
