import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much more than is used after a collection may be in use before the next one, in per cent. */
const GROWING_PERCENT = 20;

/**
 * From here on the process collects its garbage earlier, for as long as it lives: for one that ends soon and holds much. By itself it
 * lets up to three times as much pile up as is used, and buffers outside of the heap besides. May be repeated.
 */
export function holdLittleGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}

/** So long nobody may have worked before garbage is collected, and so long what a collection frees is waited for. */
const REST_MS = 5_000;
/** What a process may hold without being looked at, in bytes. */
const MUCH_BYTES = 200 * 1024 * 1024;
/** More than so much of what was held after the last collections is worth new ones. */
const GROWN = 1.2;
/** The second gives back what the first emptied. */
const COLLECTIONS = 2;

/** How a `MemoryKeeper` looks at the process, and collects its garbage. */
interface Heap {
  /** Bytes of the process that lie in memory. */
  readonly held: () => number;
  readonly collect: () => void;
}

/**
 * Gives memory back to the system when a process that goes on comes to rest: by itself it keeps what its last large piece of work took. A
 * collection holds the process up for some tenths of a second where much is in use.
 */
export class MemoryKeeper {
  readonly #heap: Heap;
  #heldAfter = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(heap: Heap = { held: () => process.memoryUsage.rss(), collect: collectGarbage }) {
    this.#heap = heap;
  }

  /** Called after each piece of work. */
  noteWork(): void {
    this.#after(() => {
      const { held } = this.#heap;
      if (held() > Math.max(MUCH_BYTES, this.#heldAfter * GROWN)) this.#collect(COLLECTIONS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #collect(times: number): void {
    if (times === 0) {
      this.#heldAfter = this.#heap.held();
      return;
    }
    this.#heap.collect();
    this.#after(() => {
      this.#collect(times - 1);
    });
  }

  #after(act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, REST_MS).unref();
  }
}

/** Node has no other way to ask for it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}
