import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { IS_BUILT, packageFile } from '../../platform/package-files.js';
import { parsedAgain, type FileKind, type ParsedApart, type ParsedFile } from './parse-file.js';

/** A text and what it is parsed as. */
export interface UnparsedText {
  readonly kind: FileKind;
  readonly text: string;
}

/** More threads than these wait for the one that hands them their texts. */
const MOST_WORKERS = 3;
/** So that none waits while its last result is taken. */
const BATCHES_AT_ONCE = 2;

/** A thread, and what it was given and has not answered yet, the oldest first. */
interface Thread {
  readonly worker: Worker;
  readonly waiting: ((answer: readonly (ParsedApart | null)[] | null) => void)[];
}

/**
 * Threads that parse texts beside this one. What they answer is what this thread would have parsed, and where one of them
 * fails, the answer is that nothing was parsed.
 */
export class ParserPool implements AsyncDisposable {
  /** Those that failed have left it. */
  readonly #threads = new Set<Thread>();

  constructor() {
    // One is this thread, which parses too. Sources that are run as they stand have no worker to load.
    const count = IS_BUILT ? Math.min(MOST_WORKERS, availableParallelism() - 1) : 0;
    for (let started = 0; started < count; started += 1) this.#start();
  }

  /** The files in the order of the texts; null: every thread is busy. Of a file that is not right, null too. */
  offer(texts: readonly UnparsedText[]): Promise<readonly (ParsedFile | null)[]> | null {
    const free = [...this.#threads].find(({ waiting }) => waiting.length < BATCHES_AT_ONCE);
    if (free === undefined) return null;
    free.worker.postMessage(texts);
    return new Promise((resolve) => {
      free.waiting.push((answer) => {
        resolve(texts.map((each, at) => revived(each, answer?.[at] ?? null)));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#threads].map(async ({ worker }) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(packageFile('dist/specs/parse/worker.js'));
    const thread: Thread = { worker, waiting: [] };
    this.#threads.add(thread);
    worker.on('message', (answer: readonly (ParsedApart | null)[]) => {
      thread.waiting.shift()?.(answer);
    });
    const giveUp = (): void => {
      this.#threads.delete(thread);
      for (const each of thread.waiting.splice(0)) each(null);
    };
    worker.on('error', giveUp);
    worker.on('exit', giveUp);
  }
}

function revived({ kind, text }: UnparsedText, apart: ParsedApart | null): ParsedFile | null {
  return apart === null ? null : parsedAgain(kind, text, apart);
}
