import type { Fault } from '../service.js';
import { failOthers, type StoryService } from './service.js';

/** What becomes of a request that a storm takes: it never arrives, nobody hears that it was done, or it is refused. */
const FAULTS: readonly Fault[] = ['reset-before', 'reset-after', 503];

export interface Storm {
  /** Of the requests that it takes. */
  readonly share: number;
  /** What it takes: all requests, those that write, or all from the first write on. */
  readonly takes: 'all' | 'writes' | 'all after a write';
}

/**
 * What lies between a daemon and the service: a gate that holds every request while somebody does something by hand, and
 * storms in which some requests fail.
 */
export class Weather {
  readonly #service: StoryService;
  readonly #random: () => number;
  #isClosed = false;
  #storm: Storm | null = null;
  #hasWritten = false;

  /** @param random from 0 to below 1. */
  constructor(service: StoryService, random: () => number) {
    this.#service = service;
    this.#random = random;
    failOthers(service, (method) => {
      if (this.#isClosed) return 'hold';
      return this.#takes(method) ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined;
    });
  }

  /** Lets go on what is held, and what comes. @param storm null: every request is answered. */
  open(storm: Storm | null = null): void {
    this.#storm = storm;
    this.#hasWritten = false;
    this.#isClosed = false;
    this.#service.release();
  }

  close(): void {
    this.#isClosed = true;
  }

  #takes(method: string): boolean {
    if (this.#storm === null) return false;
    const { share, takes } = this.#storm;
    const isWrite = method !== 'GET';
    this.#hasWritten ||= isWrite;
    const isIn = takes === 'all' || (takes === 'writes' ? isWrite : this.#hasWritten);
    return isIn && this.#random() < share;
  }
}
