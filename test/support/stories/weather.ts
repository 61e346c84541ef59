import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { PAST_HABITS } from './service.js';

/** What becomes of a request that the storm takes. */
const FAULTS: readonly ((next: RequestListener) => RequestListener)[] = [
  // It never arrives.
  () => (request) => {
    request.socket.destroy();
  },
  // It is done, and nobody hears of it.
  (next) => (request, response) => {
    response.write = () => true;
    response.end = () => {
      request.socket.destroy();
      return response;
    };
    next(request, response);
  },
  () => (_, response) => {
    response.writeHead(503, { 'content-type': 'text/plain' });
    response.end('away');
  },
];

export interface Storm {
  /** Of the requests that it takes. */
  readonly share: number;
  /** What it takes: all requests, those that write, or all from the first write on. */
  readonly takes: 'all' | 'writes' | 'all after a write';
}

/**
 * What lies between a daemon and the service: a gate that holds every request while somebody does something by hand, and
 * storms in which some requests fail. What goes past the habits of the service goes past this, too.
 */
export class Weather {
  readonly #random: () => number;
  #opened: Promise<void> = Promise.resolve();
  #open: () => void = () => undefined;
  #storm: Storm | null = null;
  #hasWritten = false;

  /** @param random from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Lets through what waits. @param storm null: every request is answered. */
  open(storm: Storm | null = null): void {
    this.#storm = storm;
    this.#hasWritten = false;
    this.#open();
  }

  close(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  around(next: RequestListener): RequestListener {
    return (request, response) => {
      if (request.headers[PAST_HABITS] === undefined) void this.#pass(next, request, response);
      else next(request, response);
    };
  }

  async #pass(
    next: RequestListener,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    await this.#opened;
    if (!this.#takes(request)) next(request, response);
    else FAULTS[Math.floor(this.#random() * FAULTS.length)]?.(next)(request, response);
  }

  #takes({ method }: IncomingMessage): boolean {
    if (this.#storm === null) return false;
    const { share, takes } = this.#storm;
    const isWrite = method !== 'GET';
    this.#hasWritten ||= isWrite;
    const isIn = takes === 'all' || (takes === 'writes' ? isWrite : this.#hasWritten);
    return isIn && this.#random() < share;
  }
}
