import type { Phase, Progress, ProgressView, Wait } from '../model/run.js';
import { clean } from './sanitize.js';

export type ProgressSink =
  | {
      readonly kind: 'terminal';
      readonly write: (text: string) => unknown;
      readonly columns: () => number;
    }
  | { readonly kind: 'plain'; readonly write: (text: string) => unknown }
  | { readonly kind: 'facts'; readonly tell: (facts: ProgressView) => void };

const REDRAWN_EACH_MS = 200;
/** Where lines stay, the first comes after this time, so that a short run stays silent. A log has no one waiting. */
const FIRST_AFTER_MS = { plain: 600, facts: 5_000 } as const;
/** To load a command takes so many times as long as all before it, and no tick comes meanwhile. */
const LOADING_TAKES = 3;
/** A person should never wait five seconds without a word, even if the machine is busy. A log has no one waiting. */
const TOLD_EACH_MS = { plain: 4_000, facts: 60_000 } as const;
/** A longer wait is reported at once, unless the last line was about a wait too. */
const LONG_WAIT_MS = 2_000;
/** Before this time a rate would be a guess. From then on, a terminal shows how long the phase has taken. */
const RATE_AFTER_MS = 5_000;
const ERASE = '\r\u001b[K';

const WORDS: Readonly<Record<Phase, readonly [doing: string, counted: string]>> = {
  read: ['reading the specs and the state', 'files'],
  look: ['looking at the service', 'objects'],
  apply: ['applying', 'steps'],
  verify: ['looking again', 'objects'],
  forge: ['asking', 'answers'],
};

/** All other text for the same stream has to go through `print` or come after `end`. */
export class ProgressReporter implements Progress {
  readonly #sinks = new Map<ProgressSink, { toldAt: number | null; saidWait: boolean }>();
  #beganAt = 0;
  #phase: Phase | undefined;
  #phaseAt = 0;
  #asked: string | undefined;
  #requestsBefore = 0;
  #done = 0;
  #total = 0;
  #sent = (): number => 0;
  #waitingUntil = 0;
  #why = '';
  #isDrawn = false;
  #ticks: NodeJS.Timeout | undefined;

  constructor(sinks: readonly ProgressSink[]) {
    for (const to of sinks) this.add(to);
  }

  add(to: ProgressSink): () => void {
    this.#sinks.set(to, { toldAt: null, saidWait: false });
    return () => {
      this.#sinks.delete(to);
    };
  }

  phase(phase: Phase, asked?: string): void {
    this.#phase = phase;
    this.#asked = asked;
    this.#phaseAt = Date.now();
    this.#requestsBefore = this.#sent();
    this.#done = 0;
    this.#total = 0;
    if (this.#ticks !== undefined) return;
    this.#beganAt = this.#phaseAt;
    this.#ticks = setInterval(() => {
      this.#draw();
      this.#tell();
    }, REDRAWN_EACH_MS).unref();
  }

  /** Before the command is loaded: on a busy machine the first line would be late after that. */
  begin(startedAt = Date.now()): void {
    this.phase('read');
    this.#beganAt = startedAt;
    this.#draw();
    this.#tell({ inMs: LOADING_TAKES * (this.#phaseAt - startedAt) });
  }

  count(done: number, total: number): void {
    this.#done = done;
    this.#total = total;
  }

  requests(sent: () => number): void {
    this.#sent = sent;
  }

  /** Reports that requests are held. Of several waits at once, the one that ends last is shown. */
  waiting({ waitMs, why }: Wait): void {
    const until = Date.now() + waitMs;
    if (until <= this.#waitingUntil) return;
    this.#waitingUntil = until;
    this.#why = clean(why);
    if (waitMs >= LONG_WAIT_MS) this.#tell({ atOnce: true });
  }

  view(): ProgressView | null {
    const phase = this.#phase;
    if (phase === undefined) return null;
    const now = Date.now();
    const done = this.#done;
    const total = this.#total;
    const requests = this.#sent();
    const waitMs = Math.max(0, this.#waitingUntil - now);
    const passedMs = now - this.#phaseAt;
    const isCounted = done > 0 && done < total;
    const endMs = now + (passedMs / done) * (total - done);
    return {
      phase,
      done,
      total,
      requests,
      waitMs,
      ...(this.#asked !== undefined && { asked: this.#asked }),
      ...(waitMs > 0 && { why: this.#why }),
      ...(passedMs >= RATE_AFTER_MS && {
        perMinute: Math.round((requests - this.#requestsBefore) / (passedMs / 60_000)),
        ...(isCounted && { expectedEnd: new Date(endMs).toISOString() }),
      }),
    };
  }

  print(write: () => void): void {
    this.#erase();
    write();
  }

  end(): void {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    this.#phase = undefined;
    this.#erase();
  }

  [Symbol.dispose](): void {
    this.end();
  }

  #draw(): void {
    const view = this.view();
    if (view === null) return;
    const passedMs = Date.now() - this.#phaseAt;
    const passed = passedMs < RATE_AFTER_MS ? '' : ` · ${grouped(Math.floor(passedMs / 1_000))} s`;
    const text = progressText(view) + passed;
    for (const to of this.#sinks.keys()) {
      if (to.kind !== 'terminal') continue;
      // One column stays free: at the last column a terminal would wrap, and the line could not be overwritten.
      to.write(ERASE + text.slice(0, Math.max(0, to.columns() - 1)));
      this.#isDrawn = true;
    }
  }

  /** `inMs` until the next occasion: what is due by then comes now. */
  #tell({ atOnce = false, inMs = 0 } = {}): void {
    const view = this.view();
    if (view === null) return;
    const now = Date.now();
    for (const [to, { toldAt, saidWait }] of this.#sinks) {
      if (to.kind === 'terminal') continue;
      const dueAt =
        toldAt === null ? this.#beganAt + FIRST_AFTER_MS[to.kind] : toldAt + TOLD_EACH_MS[to.kind];
      if (now + inMs < dueAt && !(atOnce && !saidWait)) continue;
      this.#sinks.set(to, { toldAt: now, saidWait: view.waitMs > 0 });
      if (to.kind === 'facts') to.tell(view);
      else to.write(`${progressText(view)}\n`);
    }
  }

  #erase(): void {
    if (!this.#isDrawn) return;
    for (const to of this.#sinks.keys()) if (to.kind === 'terminal') to.write(ERASE);
    this.#isDrawn = false;
  }
}

export function progressText(view: ProgressView): string {
  const { phase, asked, done, total, requests, perMinute, expectedEnd, waitMs, why } = view;
  const rate = perMinute === undefined ? '' : ` (${grouped(perMinute)} a minute)`;
  const [doing, counted] = WORDS[phase];
  const parts = [
    asked === undefined ? doing : `${doing} ${asked}`,
    ...(total > 0 ? [`${grouped(done)}/${grouped(total)} ${counted}`] : []),
    ...(phase === 'read' || phase === 'forge'
      ? []
      : [`${grouped(requests)} ${requests === 1 ? 'request' : 'requests'}${rate}`]),
    ...(expectedEnd === undefined ? [] : [`until about ${expectedEnd.slice(11, 16)} UTC`]),
    ...(waitMs > 0 ? [`waiting ${Math.ceil(waitMs / 1_000)} s: ${why ?? ''}`] : []),
  ];
  return parts.join(' · ');
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}
