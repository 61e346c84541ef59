import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { operatorSettings } from '../../src/compose/settings.js';
import { axeViolations, withPage, type Locator } from '../support/browser.js';
import { InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { startScripted } from '../support/http.js';
import { operationsOver } from '../support/operations.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';

const scenario = useScenario();

beforeEach(() => {
  // The clock on the wall alone: timers, sockets and git take the time that they take.
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A daemon over a shop that serves `on` to 10 % from nine o'clock, and to more each hour while the check passes. */
async function aRampedShop(more = '') {
  const { repository, service } = scenario;
  const world = { live: await liveWorkspace(service), errors: '0.001' };
  const prometheus = await startScripted(() => {
    const result = [{ metric: {}, value: [1, world.errors] }];
    return { status: 200, body: { status: 'success', data: { resultType: 'vector', result } } };
  });
  onTestFinished(prometheus.close);
  const check = `{ prometheus: "${prometheus.url}", query: "rate(errors[5m])", atMost: 0.01 }`;
  const production = `ramp: { start: 2026-01-05T09:00Z, steps: "10, 1h, 50, 1h, 100", check: errors${more} }`;
  vi.setSystemTime(new Date('2026-01-05T09:00Z'));
  scenario.commit(
    {
      'flagkeel.yaml': `${PIPELINE_CONFIG}checks: { errors: ${check} }\n`,
      'flags/shop.yaml': flagSpec('shop', { on: 0, production }),
    },
    'Ramp the shop',
  );
  const settings = operatorSettings({
    FLAGKEEL_API_KEY: service.key,
    FLAGKEEL_ORIGINS: prometheus.url,
  });
  const watching = new InProcessDaemon(repository.directory, service, { intervalMs: 50, settings });
  onTestFinished(async () => watching.daemon.stop('SIGTERM'));
  watching.daemon.start();
  await watching.rest(1);
  return {
    ...{ world, prometheus, watching },
    until: async (time: string): Promise<void> => {
      const before = watching.runs.length;
      vi.setSystemTime(new Date(time));
      await watching.rest(before + 1);
    },
  };
}

it('a daemon holds a step while Prometheus answers with too much, asks again by the clock, and goes on', async () => {
  const { world, prometheus, watching, ...shop } = await aRampedShop();
  const { live } = world;
  const story: string[] = [];
  const note = async (): Promise<void> => {
    const { defaultRule } = await live.ok<{ defaultRule: { treatment: string; size: number }[] }>(
      'GET',
      `/splits/ws/${live.id}/shop/environments/${live.production}`,
    );
    const on = defaultRule.find(({ treatment }) => treatment === 'on')?.size ?? 0;
    const held = watching.runs.at(-1)?.plan?.ramps?.[0]?.held ?? 'goes on';
    story.push(`${String(on)} %, ${held}; ${watching.view.nextDue?.slice(11, 16) ?? 'the end'}`);
  };
  const then = async (time: string): Promise<void> => {
    await shop.until(time);
    await note();
  };
  await note();

  world.errors = '0.2';
  await then('2026-01-05T10:00Z');
  await then('2026-01-05T10:05Z');
  await using operations = await operationsOver(watching.daemon, {});
  const metrics = await (await fetch(`${operations.url}/metrics`)).text();
  const page = await (await fetch(`${operations.url}/`)).text();
  world.errors = '0.002';
  await then('2026-01-05T10:10Z');
  await then('2026-01-05T11:00Z');

  expect(story).toEqual([
    '10 %, goes on; 10:00',
    '10 %, check "errors" failed: 0.2 is more than 0.01; 10:05',
    '10 %, check "errors" failed: 0.2 is more than 0.01; 10:10',
    '50 %, goes on; 11:00',
    '100 %, goes on; the end',
  ]);
  expect(prometheus.lines()).toEqual(Array.from({ length: 5 }, () => 'GET /api/v1/query'));
  expect(prometheus.seen[0]?.url).toContain('query=rate(errors%5B5m%5D)');
  expect(metrics).toContain('flagkeel_held_ramps{source="default"} 1');
  expect(page).toContain('0.2 is more than 0.01');
});

it.skipIf(lacks('chromium'))(
  'the pages of a daemon show a ramp that a failed check took back as held, with the reason',
  { timeout: 60_000 },
  async () => {
    const { world, watching, until } = await aRampedShop(', onFail: previous');
    await until('2026-01-05T10:00Z');
    world.errors = '0.2';
    await until('2026-01-05T11:00Z');
    await using operations = await operationsOver(watching.daemon, {});

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      const text = async (part: Locator): Promise<string> =>
        (await part.innerText()).replaceAll(/\s+/g, ' ');
      const cell = await text(page.locator('.matrix td[data-place=production]'));
      const states = await page.getByLabel('State').locator('option').allInnerTexts();
      await page.getByRole('link', { name: 'shop', exact: true }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('heading', { name: 'Last writes' }).waitFor();
      return { cell, states, panel: await text(panel), violations: await axeViolations(page) };
    });

    expect(seen.violations).toEqual([]);
    expect(seen.cell).toContain('on 10 %');
    expect(seen.states).toContain('held for a person (1)');
    expect(seen.panel).toContain('check "errors" failed: 0.2 is more than 0.01');
  },
);
