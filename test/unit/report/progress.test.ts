import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProgressView } from '../../../src/model/run.js';
import { ProgressReporter } from '../../../src/report/progress.js';

const ERASE = '\r\u001b[K';

const TICK_MS = 200;

beforeEach(() => vi.useFakeTimers({ now: 0 }));
afterEach(() => vi.useRealTimers());

function tick(): void {
  vi.advanceTimersByTime(TICK_MS);
}

function reporter(kind: 'terminal' | 'plain', columns = 100) {
  const written: string[] = [];
  const write = (text: string): unknown => written.push(text);
  const sink = kind === 'terminal' ? { kind, write, columns: () => columns } : { kind, write };
  return { written, progress: new ProgressReporter([sink]) };
}

const LIMIT = {
  why: 'the service limits the number of requests',
  what: 'send what is waiting (3)',
};

describe('progress on a terminal', () => {
  it('is one line that is rewritten in place, and gone at the end', () => {
    const { written, progress } = reporter('terminal');
    progress.requests(() => 1_024);
    progress.phase('look');
    progress.count(250, 3_000);
    tick();
    progress.phase('apply');
    progress.count(1, 40);
    tick();
    progress.end();

    expect(written).toEqual([
      `${ERASE}looking at the service · 250/3,000 objects · 1,024 requests`,
      `${ERASE}applying · 1/40 steps · 1,024 requests`,
      ERASE,
    ]);
  });

  it('counts a wait down, and forgets it when it is over', () => {
    const { written, progress } = reporter('terminal');
    progress.requests(() => 1);
    progress.phase('verify');
    progress.waiting({ waitMs: 1_300, ...LIMIT });
    tick();
    tick();
    for (let times = 0; times < 5; times += 1) tick();

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
    const { written, progress } = reporter('terminal');
    progress.phase('apply');
    tick();
    progress.print(() => written.push('a note\n'));
    tick();

    const line = `${ERASE}applying · 0 requests`;
    expect(written).toEqual([line, ERASE, 'a note\n', line]);
  });

  it('says what it waits for while the state is fetched, and shows every second that it lives', () => {
    const { written, progress } = reporter('terminal');
    progress.begin();
    expect(written).toEqual([`${ERASE}reading the specs and the state`]);
    vi.advanceTimersByTime(6_000);
    expect(written.at(-1)).toBe(`${ERASE}reading the specs and the state · 6 s`);
    vi.advanceTimersByTime(5_000);

    expect(written.at(-1)).toBe(`${ERASE}reading the specs and the state · 11 s`);
  });

  it('never wraps', () => {
    const { written, progress } = reporter('terminal', 20);
    progress.phase('look');
    progress.waiting({ waitMs: 9_000, ...LIMIT });
    tick();

    expect(written).toEqual([`${ERASE}looking at the serv`]);
  });

  it('shows nothing of a run that is over before the first tick', () => {
    const { written, progress } = reporter('terminal');
    progress.phase('look');
    progress.end();
    tick();

    expect(written).toEqual([]);
  });
});

describe('progress that is no terminal’s', () => {
  it('is a plain line within a second and then every few seconds, with rate and end', () => {
    const { written, progress } = reporter('plain');
    progress.requests(() => Math.floor(Date.now() / 500));
    progress.phase('look');
    progress.count(5, 200);
    vi.advanceTimersByTime(1_000);
    expect(written).toEqual(['looking at the service · 5/200 objects · 1 request\n']);
    vi.advanceTimersByTime(60_000);
    progress.end();

    expect(written).toHaveLength(16);
    expect(written.at(-1)).toBe(
      'looking at the service · 5/200 objects · 121 requests (120 a minute) · until about 00:40 UTC\n',
    );
  });

  it.each([
    ['comes with the first tick of a second', 100, 300, true],
    ['is silent where a quick machine begins a command', 100, 200, false],
    ['comes before a command is loaded where a busy machine loads it for long', 200, 0, true],
  ])('%s, counted from the start of the process', (_, beganMs, passedMs, isShown) => {
    const { written, progress } = reporter('plain');
    vi.setSystemTime(beganMs);
    progress.begin(0);
    vi.setSystemTime(beganMs + passedMs);
    if (passedMs > 0) tick();
    progress.end();

    expect(written).toEqual(isShown ? ['reading the specs and the state\n'] : []);
  });

  it('says which forge it asks, and why it asks again', () => {
    const { written, progress } = reporter('plain');
    progress.phase('forge', 'GitHub (api.github.com)');
    vi.advanceTimersByTime(1_000);
    progress.waiting({ waitMs: 60_000, why: 'it is busy', what: 'send it again' });
    progress.phase('read');
    vi.advanceTimersByTime(5_000);

    expect(written).toEqual([
      'asking GitHub (api.github.com)\n',
      'asking GitHub (api.github.com) · waiting 60 s: it is busy\n',
      'reading the specs and the state · waiting 56 s: it is busy\n',
    ]);
  });

  it('says at once that a service makes it wait, and then how long it still does', () => {
    const { written, progress } = reporter('plain');
    progress.phase('look');
    progress.waiting({ waitMs: 1_500, ...LIMIT });
    progress.waiting({ waitMs: 8_000, ...LIMIT });
    vi.advanceTimersByTime(5_000);

    const line = (said: string): string => `looking at the service · ${said}: ${LIMIT.why}\n`;
    expect(written).toEqual([line('0 requests · waiting 8 s'), line('0 requests · waiting 4 s')]);
  });

  it('says at once that a wait began after the first line, without what a terminal acts on', () => {
    const { written, progress } = reporter('plain');
    progress.phase('look');
    vi.advanceTimersByTime(1_000);
    progress.waiting({ waitMs: 8_000, why: 'it said \u001b[2J', what: 'read flags' });
    // The last line is about a wait already.
    progress.waiting({ waitMs: 9_000, ...LIMIT });

    expect(written).toEqual([
      'looking at the service · 0 requests\n',
      'looking at the service · 0 requests · waiting 8 s: it said <U+001B>[2J\n',
    ]);
  });

  it('is facts for a log', () => {
    const told: ProgressView[] = [];
    const tell = (facts: ProgressView): void => void told.push(facts);
    const progress = new ProgressReporter([{ kind: 'facts', tell }]);
    progress.phase('apply');
    progress.count(2, 9);
    vi.advanceTimersByTime(4_800);
    expect(told).toEqual([]);
    tick();

    const expectedEnd = new Date(22_500).toISOString();
    expect(told).toEqual([
      { phase: 'apply', done: 2, total: 9, requests: 0, waitMs: 0, perMinute: 0, expectedEnd },
    ]);
  });

  it('can be asked for at any moment of a run, and is nothing before and after', () => {
    const { progress } = reporter('plain');
    const before = progress.view();
    progress.phase('verify');
    const during = progress.view();
    progress.end();

    expect([before, progress.view()]).toEqual([null, null]);
    expect(during).toEqual({ phase: 'verify', done: 0, total: 0, requests: 0, waitMs: 0 });
  });
});
