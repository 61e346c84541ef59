import { messageOf } from '../../errors.js';
import type { CommitStatus } from '../../forge/forge.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import type { Log } from '../../platform/log.js';
import { clean } from '../../report/sanitize.js';
import type { StatusTarget } from './target.js';

/** A status to be set on a commit. */
export interface DueStatus extends CommitStatus {
  readonly target: StatusTarget;
  readonly commit: string;
  readonly runUrl: string | undefined;
}

/** Sets one status, with its own retries and timeouts. @param signal when aborted, it gives up. */
export type SendStatus = (due: DueStatus, signal: AbortSignal) => Promise<void>;

const MOST_WAITING = 200;
/** Limit of final statuses kept after a failure. If there are more, the forge does not accept them. */
const MOST_OWED = 20;
const MOST_REMEMBERED = 1_000;
/** A container has ten seconds to end. */
const GRACE_MS = 3_000;

/**
 * Sends statuses in the background, one by one. Sets pending only before the first final status of a commit, and
 * repeats a final status only if it differs: a forge takes 1,000 statuses of a commit, which hourly runs would use up.
 */
export class StatusQueue {
  readonly #send: SendStatus;
  readonly #log: Log;
  readonly #end = new AbortController();
  /** By commit and context, oldest first. */
  readonly #waiting = new Map<string, DueStatus>();
  readonly #owed = new BoundedMap<string, DueStatus>(MOST_OWED);
  readonly #shown = new BoundedMap<string, CommitStatus['state']>(MOST_REMEMBERED);
  #sending: Promise<void> | undefined;

  constructor(send: SendStatus, log: Log) {
    this.#send = send;
    this.#log = log;
  }

  /** Returns at once. Replaces a waiting status of that commit and context. Retries failed final statuses once. */
  add(due: DueStatus): void {
    if (this.#end.signal.aborted) return;
    this.#takeOwed();
    const key = keyOf(due);
    const last = this.#waiting.get(key)?.state ?? this.#shown.get(key);
    if (due.state !== last && (due.state !== 'pending' || last === undefined)) {
      this.#waiting.set(key, due);
      if (this.#waiting.size > MOST_WAITING) this.#drop();
    }
    this.#start();
  }

  /** Waits briefly for the queue to empty, and drops the rest. */
  async close(): Promise<void> {
    this.#takeOwed();
    this.#start();
    const { signal } = this.#end;
    const isOver = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    const timer = setTimeout(() => {
      this.#end.abort();
    }, GRACE_MS);
    await Promise.race([this.#sending, isOver]);
    clearTimeout(timer);
    this.#end.abort();
    const untold = this.#waiting.size + this.#owed.size;
    if (untold > 0) this.#log.warn({ untold }, 'commit statuses given up');
  }

  #start(): void {
    if (this.#waiting.size > 0) this.#sending ??= this.#sendAll();
  }

  #takeOwed(): void {
    for (const [key, due] of this.#owed.entries())
      if (!this.#waiting.has(key)) this.#waiting.set(key, due);
    this.#owed.clear();
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#end.signal.aborted) break;
      const [key, due] = next;
      this.#waiting.delete(key);
      await this.#sendOne(key, due);
    }
    this.#sending = undefined;
  }

  async #sendOne(key: string, due: DueStatus): Promise<void> {
    const { commit, context, state } = due;
    const fields = { revision: commit, context, state };
    try {
      await this.#send(due, this.#end.signal);
      this.#shown.set(key, state);
      this.#log.debug(fields, 'commit status');
    } catch (error) {
      if (state !== 'pending') this.#owed.set(key, due);
      this.#log.warn({ ...fields, why: clean(messageOf(error)) }, 'commit status failed');
    }
  }

  /** Drops a pending status first: without it, its commit needs no final one. */
  #drop(): void {
    const all = [...this.#waiting.values()];
    const dropped = all.find(({ state }) => state === 'pending') ?? all[0];
    if (dropped) this.#waiting.delete(keyOf(dropped));
    this.#log.warn({ why: 'too many are waiting' }, 'commit status dropped');
  }
}

function keyOf({ target, commit, context }: DueStatus): string {
  return JSON.stringify([target.repository, commit, context]);
}
