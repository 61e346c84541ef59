import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { EnvironmentFlags } from '../src/daemon/view.js';
import { aLiveFlag } from '../test/support/daemon-story.js';
import { aSource, DaemonInMemory } from '../test/support/daemon-view.js';
import { startTestOperations } from '../test/support/operations.js';
import { findProgram } from '../test/support/requirements.js';
import { line, table } from './client/table.js';
import { median } from './client/measure.js';

/**
 * The status page of 1,000 flags in three environments, in Chromium: its bytes, the time to its first paint beside that of
 * an empty page in the same round, and the time from a change of one flag to the moment at which the page shows it.
 *
 * Usage: `bench/page.ts`. `BENCH_FLAGS` (1,000) and `BENCH_ROUNDS` (5) change the size.
 */
const FLAGS = Number(process.env['BENCH_FLAGS'] ?? 1_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const PLACES = ['production', 'staging', 'development'] as const;

const flagName = (index: number): string => `flag-${String(index).padStart(4, '0')}`;

/** Every flag serves a share of its own; `first` is that of the first flag. */
function flagsWith(first: number): EnvironmentFlags[] {
  return PLACES.map((environment) => ({
    environment,
    total: FLAGS,
    flags: Array.from({ length: FLAGS }, (_, index) => {
      const share = index === 0 ? first : (index * 7) % 101;
      return aLiveFlag(flagName(index), share, { rules: index % 3, killed: index % 50 === 1 });
    }),
  }));
}

const source = (first: number) => aSource({ environments: PLACES, flags: flagsWith(first) });

/** Milliseconds from the start of the navigation to the first paint and to the end of loading. */
async function paintOf(browser: Browser, url: string): Promise<{ first: number; loaded: number }> {
  const page = await browser.newPage();
  try {
    await page.goto(url, { waitUntil: 'load' });
    await page.waitForFunction('performance.getEntriesByName("first-contentful-paint").length > 0');
    return await page.evaluate(`({
      first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
      loaded: performance.getEntriesByType("navigation")[0].loadEventStart,
    })`);
  } finally {
    await page.close();
  }
}

/** Milliseconds until the page shows a new share of the first flag, and the longest task of its thread meanwhile. */
async function updateOf(page: Page, daemon: DaemonInMemory, share: number) {
  await page.evaluate('window.longest = 0');
  const start = performance.now();
  daemon.show(source(share));
  const row = page.locator('.matrix tbody tr').first();
  await row
    .getByText(`on ${String(share)} %`)
    .first()
    .waitFor();
  const shown = performance.now() - start;
  return { shown, longest: await page.evaluate<number>('window.longest') };
}

const WATCH = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
}).observe({ type: 'longtask' })`;

const empty = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>empty</title><p>empty');
});
await new Promise<void>((resolve) => empty.listen(0, '127.0.0.1', resolve));
const emptyUrl = `http://127.0.0.1:${(empty.address() as AddressInfo).port}/`;

const executablePath = findProgram('chromium');
if (executablePath === null) throw new Error('this benchmark needs Chromium');
const browser = await chromium.launch({ executablePath });
const daemon = new DaemonInMemory(source(10));
await using operations = await startTestOperations(daemon, { tokens: ['a-token'] });
try {
  const bytes = Buffer.byteLength(await (await fetch(operations.url)).text());
  const rounds: { of: number; empty: number; loaded: number }[] = [];
  // The first round starts processes of the browser and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await paintOf(browser, emptyUrl);
    const { first, loaded } = await paintOf(browser, `${operations.url}/`);
    if (round > 0) rounds.push({ of: first, empty: bare.first, loaded });
  }
  const page = await browser.newPage();
  await page.goto(`${operations.url}/`);
  await page.getByText('live', { exact: true }).waitFor();
  await page.evaluate(WATCH);
  const updates = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    updates.push(await updateOf(page, daemon, 20 + round));
  }
  const ms = (values: readonly number[]): string => `${median(values).toFixed(0)} ms`;
  const ratio = median(rounds.map((each) => each.of / each.empty));
  table(`${String(FLAGS)} flags × ${String(PLACES.length)}`, ['figure', 'value']);
  line(['bytes', bytes.toLocaleString('en')]);
  line(['first paint', ms(rounds.map((each) => each.of))]);
  line(['first paint of an empty page', ms(rounds.map((each) => each.empty))]);
  line(['ratio', ratio.toFixed(2)]);
  line(['loaded', ms(rounds.map((each) => each.loaded))]);
  line(['a change is shown after', ms(updates.map(({ shown }) => shown))]);
  line(['longest task of 50 ms or more meanwhile', ms(updates.map(({ longest }) => longest))]);
} finally {
  await browser.close();
  empty.close();
}
