import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { operatorSettings } from '../../src/compose/settings.js';
import { watchHere } from '../support/in-process-daemon.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { startScripted } from '../support/http.js';
import { operationsOver } from '../support/operations.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
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
async function aRampedShop() {
  const { service } = scenario;
  const world = { live: await liveWorkspace(service), errors: '0.001' };
  const prometheus = await startScripted(() => {
    const result = [{ metric: {}, value: [1, world.errors] }];
    return { status: 200, body: { status: 'success', data: { resultType: 'vector', result } } };
  });
  onTestFinished(prometheus.close);
  const check = `{ prometheus: "${prometheus.url}", query: "rate(errors[5m])", atMost: 0.01 }`;
  const production = `ramp: { start: 2026-01-05T09:00Z, steps: "10, 1h, 50, 1h, 100", check: errors }`;
  vi.setSystemTime(new Date('2026-01-05T09:00Z'));
  const config = `${PIPELINE_CONFIG}checks: { errors: ${check} }\n`;
  const shop = flagSpec('shop', { on: 0, production });
  scenario.commit({ 'flagkeel.yaml': config, 'flags/shop.yaml': shop }, 'Ramp the shop');
  const settings = operatorSettings({
    FLAGKEEL_API_KEY: service.key,
    FLAGKEEL_ORIGINS: prometheus.url,
  });
  const watching = await watchHere(scenario, { intervalMs: 50, settings });
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
    const on = await live.share('shop');
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
