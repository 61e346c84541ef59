import type { SentRequest, Traffic } from '../../admin-api/http/request.js';

/** Tells since when the service has left the requests of a source's runs, or of a confirmation, unanswered. */
export class RunTraffic implements Traffic {
  readonly #outer: Traffic | undefined;
  #underWay = 0;
  #quietSince: number | null = null;
  /** Number of answers, whatever their status. */
  answers = 0;
  /** Of the newest answer. */
  status: number | null = null;

  constructor(outer: Traffic | undefined) {
    this.#outer = outer;
  }

  /** 0 while no request waits for an answer: the pauses that a service asks for are no silence. */
  get silentMs(): number {
    return this.#quietSince === null ? 0 : performance.now() - this.#quietSince;
  }

  onTurn(waitMs: number): void {
    this.#underWay += 1;
    this.#quietSince ??= performance.now();
    this.#outer?.onTurn(waitMs);
  }

  /** A try without an answer does not end the silence: the next one may fare no better. */
  onRequest(request: SentRequest): void {
    this.#underWay -= 1;
    if (request.status !== null) {
      this.answers += 1;
      this.status = request.status;
      this.#quietSince = this.#underWay === 0 ? null : performance.now();
    }
    this.#outer?.onRequest(request);
  }

  onRetry(): void {
    this.#outer?.onRetry();
  }
}
