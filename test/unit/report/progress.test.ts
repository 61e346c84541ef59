import { describe, expect, it } from 'vitest';
import { ProgressReporter, type ProgressFacts, type Ticker } from '../../../src/report/progress.js';

const ERASE = '\r\u001b[K';

class ManualTicker implements Ticker {
  nowMs = 0;
  #tick: (() => void) | undefined;
  everyMs = 0;

  now(): number {
    return this.nowMs;
  }

  every(ms: number, tick: () => void): () => void {
    this.everyMs = ms;
    this.#tick = tick;
    return () => {
      this.#tick = undefined;
    };
  }

  tick(): void {
    this.nowMs += this.everyMs;
    this.#tick?.();
  }
}

function reporter(kind: 'terminal' | 'plain', columns = 100) {
  const ticker = new ManualTicker();
  const written: string[] = [];
  const write = (text: string): unknown => written.push(text);
  const sink = kind === 'terminal' ? { kind, write, columns: () => columns } : { kind, write };
  return { ticker, written, progress: new ProgressReporter(sink, ticker) };
}

const LIMIT = {
  why: 'the service limits the number of requests',
  what: 'send what is waiting (3)',
};

describe('progress on a terminal', () => {
  it('is one line that is rewritten in place, and gone at the end', () => {
    const { ticker, written, progress } = reporter('terminal');
    progress.requests(() => 1_024);
    progress.phase('look');
    progress.count(250, 3_000);
    ticker.tick();
    progress.phase('apply');
    progress.count(1, 40);
    ticker.tick();
    progress.end();

    expect(written).toEqual([
      `${ERASE}looking at the service · 250/3,000 objects · 1,024 requests`,
      `${ERASE}applying · 1/40 steps · 1,024 requests`,
      ERASE,
    ]);
  });

  it('counts a wait down, and forgets it when it is over', () => {
    const { ticker, written, progress } = reporter('terminal');
    progress.requests(() => 1);
    progress.phase('verify');
    progress.waiting({ waitMs: 1_300, ...LIMIT });
    ticker.tick();
    ticker.tick();
    for (let times = 0; times < 5; times += 1) ticker.tick();

    const lines = written.map((text) => text.slice(ERASE.length));
    const waiting = (seconds: number) =>
      `looking again · 1 request · waiting ${seconds} s: the service limits the number of requests`;
    expect(lines).toEqual([
      waiting(2),
      ...Array<string>(5).fill(waiting(1)),
      'looking again · 1 request',
    ]);
  });

  it('makes room for other lines, and comes back below them', () => {
    const { ticker, written, progress } = reporter('terminal');
    progress.phase('apply');
    ticker.tick();
    progress.print(() => written.push('a note\n'));
    ticker.tick();

    const line = `${ERASE}applying · 0 requests`;
    expect(written).toEqual([line, ERASE, 'a note\n', line]);
  });

  it('never wraps', () => {
    const { ticker, written, progress } = reporter('terminal', 20);
    progress.phase('look');
    progress.waiting({ waitMs: 9_000, ...LIMIT });
    ticker.tick();

    expect(written).toEqual([`${ERASE}looking at the serv`]);
  });

  it('shows nothing of a run that is over before the first tick', () => {
    const { ticker, written, progress } = reporter('terminal');
    progress.phase('look');
    progress.end();
    ticker.tick();

    expect(written).toEqual([]);
  });
});

describe('progress that is no terminal’s', () => {
  it('is a plain line every five seconds, and one at once for a long wait', () => {
    const { ticker, written, progress } = reporter('plain');
    progress.phase('look');
    progress.count(5, 10);
    ticker.tick();
    progress.waiting({ waitMs: 1_500, ...LIMIT });
    progress.waiting({ waitMs: 8_000, ...LIMIT });
    progress.waiting({ waitMs: 7_000, ...LIMIT });
    progress.end();

    expect(ticker.everyMs).toBe(5_000);
    expect(written).toEqual([
      'looking at the service · 5/10 objects · 0 requests\n',
      'waiting 8 s to send what is waiting (3): the service limits the number of requests\n',
    ]);
  });

  it('shows what a service said without what a terminal acts on', () => {
    const { written, progress } = reporter('plain');
    progress.phase('look');
    progress.waiting({ waitMs: 8_000, why: 'it said \u001b[2J', what: 'read flags' });

    expect(written.join('')).not.toContain('\u001b');
  });

  it('is facts for a log, and one line at once for a long wait', () => {
    const ticker = new ManualTicker();
    const told: ProgressFacts[] = [];
    const tell = (facts: ProgressFacts): void => void told.push(facts);
    const progress = new ProgressReporter({ kind: 'facts', tell }, ticker);
    progress.phase('apply');
    progress.count(2, 9);
    ticker.tick();
    progress.waiting({ waitMs: 3_000, ...LIMIT });

    const facts = { phase: 'apply', done: 2, total: 9, requests: 0 };
    expect(told).toEqual([
      { ...facts, waitMs: 0 },
      { ...facts, waitMs: 3_000, why: LIMIT.why },
    ]);
  });
});
