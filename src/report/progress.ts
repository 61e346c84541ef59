import type { Phase, Progress, Wait } from '../model/run.js';
import { clean } from './sanitize.js';

/** The form of progress: one line that is rewritten in place, a plain line now and then, or facts for a log. */
export type ProgressSink =
  | {
      readonly kind: 'terminal';
      readonly write: (text: string) => unknown;
      readonly columns: () => number;
    }
  | { readonly kind: 'plain'; readonly write: (text: string) => unknown }
  | { readonly kind: 'facts'; readonly tell: (facts: ProgressFacts) => void };

/** The progress of a run. */
export interface ProgressFacts {
  readonly phase: Phase;
  readonly done: number;
  readonly total: number;
  readonly requests: number;
  /** Milliseconds until held requests are sent again; 0 if none is held. */
  readonly waitMs: number;
  readonly why?: string;
}

/** Clock and ticks, as a parameter so that tests need not wait. */
export interface Ticker {
  /** Milliseconds. */
  now(): number;
  /** Calls `tick` until the returned function is called. Does not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
}

const realTicker: Ticker = {
  now: () => Date.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    timer.unref();
    return () => {
      clearInterval(timer);
    };
  },
};

const REDRAWN_EACH_MS = 200;
const TOLD_EACH_MS = 5_000;
/** Longer waits get a plain line of their own. */
const LONG_WAIT_MS = 2_000;
/** Goes to the beginning of the line and clears the line. */
const ERASE = '\r\u001b[K';

/** The current activity of the run, in words. */
const DOING: Readonly<Record<Phase, string>> = {
  look: 'looking at the service',
  apply: 'applying',
  verify: 'looking again',
};
/** The things that `done` and `total` count. */
const COUNTED: Readonly<Record<Phase, string>> = {
  look: 'objects',
  apply: 'steps',
  verify: 'objects',
};

/**
 * Shows the progress of a run. Shows nothing before the first tick, so that a short run stays silent. All other text
 * for the same stream has to go through `print` or come after `end`.
 */
export class ProgressReporter implements Progress {
  readonly #sink: ProgressSink;
  readonly #ticker: Ticker;
  #phase: Phase | undefined;
  #done = 0;
  #total = 0;
  #sent = (): number => 0;
  #waitingUntil = 0;
  #why = '';
  #isDrawn = false;
  #stop: (() => void) | undefined;

  constructor(sink: ProgressSink, ticker: Ticker = realTicker) {
    this.#sink = sink;
    this.#ticker = ticker;
  }

  /** Begins a phase; its numbers start at zero. */
  phase(phase: Phase): void {
    this.#phase = phase;
    this.#done = 0;
    this.#total = 0;
    const eachMs = this.#sink.kind === 'terminal' ? REDRAWN_EACH_MS : TOLD_EACH_MS;
    this.#stop ??= this.#ticker.every(eachMs, () => {
      this.#show();
    });
  }

  count(done: number, total: number): void {
    this.#done = done;
    this.#total = total;
  }

  requests(sent: () => number): void {
    this.#sent = sent;
  }

  /** Reports that requests are held. Of several waits at once, the one that ends last is shown. */
  waiting({ waitMs, why, what }: Wait): void {
    const until = this.#ticker.now() + waitMs;
    if (until <= this.#waitingUntil) return;
    this.#waitingUntil = until;
    this.#why = clean(why);
    if (waitMs < LONG_WAIT_MS) return;
    if (this.#sink.kind === 'facts') this.#show();
    if (this.#sink.kind === 'plain') {
      this.#sink.write(`waiting ${seconds(waitMs)} s to ${clean(what)}: ${clean(why)}\n`);
    }
  }

  /** Writes other text in the place of the line; the next tick draws the line again. */
  print(write: () => void): void {
    this.#erase();
    write();
  }

  /** Removes the line. A phase that begins later draws again. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#phase = undefined;
    this.#erase();
  }

  /** Shows the current progress. */
  #show(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    const waitMs = Math.max(0, this.#waitingUntil - this.#ticker.now());
    const facts: ProgressFacts = {
      ...{ phase, done: this.#done, total: this.#total, requests: this.#sent(), waitMs },
      ...(waitMs > 0 && { why: this.#why }),
    };
    const sink = this.#sink;
    switch (sink.kind) {
      case 'facts':
        sink.tell(facts);
        return;
      case 'plain':
        sink.write(`${lineOf(facts)}\n`);
        return;
      case 'terminal':
        // One column stays free: at the last column a terminal would wrap, and the line could not be overwritten.
        sink.write(ERASE + lineOf(facts).slice(0, Math.max(0, sink.columns() - 1)));
        this.#isDrawn = true;
    }
  }

  #erase(): void {
    if (this.#sink.kind !== 'terminal' || !this.#isDrawn) return;
    this.#sink.write(ERASE);
    this.#isDrawn = false;
  }
}

/** Parts without information are left out. */
function lineOf({ phase, done, total, requests, waitMs, why }: ProgressFacts): string {
  const parts = [
    DOING[phase],
    ...(total > 0 ? [`${grouped(done)}/${grouped(total)} ${COUNTED[phase]}`] : []),
    `${grouped(requests)} ${requests === 1 ? 'request' : 'requests'}`,
    ...(waitMs > 0 ? [`waiting ${seconds(waitMs)} s: ${why ?? ''}`] : []),
  ];
  return parts.join(' · ');
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}
