import type { IncomingMessage, ServerResponse } from 'node:http';

interface Answer {
  readonly status: number;
  readonly body: Buffer;
  staleFor: number;
}

/** A service that lags: what it answered to a read before a write it goes on answering for a while. */
export class StaleReads {
  /** How often, after each write. 0: it does not lag. */
  times = 0;
  readonly #answers = new Map<string, Answer>();

  /** @returns whether it has answered; otherwise it listens to what is answered. */
  answers(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.times === 0) return false;
    if (request.method !== 'GET') {
      response.once('finish', () => {
        for (const each of this.#answers.values()) each.staleFor = this.times;
      });
      return false;
    }
    const url = request.url ?? '';
    const known = this.#answers.get(url);
    if (known && known.staleFor > 0) {
      known.staleFor -= 1;
      response.writeHead(known.status, { 'content-type': 'application/json' });
      response.end(known.body);
      return true;
    }
    const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse;
    response.end = ((chunk?: unknown) => {
      const body =
        typeof chunk === 'string' || Buffer.isBuffer(chunk) ? Buffer.from(chunk) : Buffer.alloc(0);
      this.#answers.set(url, { status: response.statusCode, body, staleFor: 0 });
      return end(chunk);
    }) as typeof response.end;
    return false;
  }
}
