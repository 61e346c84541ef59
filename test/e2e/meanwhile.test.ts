import { beforeEach, expect, it } from 'vitest';
import type { Time } from '../../src/platform/clock.js';
import { openRun } from '../../src/compose/run.js';
import { operatorSettings } from '../../src/compose/settings.js';
import type { ApplyOptions } from '../../src/reconcile/apply.js';
import { plan, reconcile } from '../../src/reconcile/reconcile.js';
import type { Applied } from '../../src/reconcile/context.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = 'workspace: Default\nenvironments: { staging: {} }\n';

const flag = (name: string, percent: number): string => flagText(name, percent, { staging: '' });

const BETA = 'flag/beta@staging';

const scenario = useScenario();
let live: LiveWorkspace;
let clock: number;
let pauses: number[];

beforeEach(async () => {
  clock = 0;
  pauses = [];
  live = await liveWorkspace(scenario.service);
  scenario.commit(
    {
      'flagkeel.yaml': CONFIG,
      'flags/alpha.yaml': flag('alpha', 10),
      'flags/beta.yaml': flag('beta', 10),
    },
    'Add two flags',
  );
  expect(await applied()).toMatchObject({ converged: true });
  ramp(20);
  scenario.service.requests.length = 0;
});

function ramp(percent: number): void {
  scenario.commit(
    {
      'flags/alpha.yaml': flag('alpha', percent),
      'flags/beta.yaml': flag('beta', percent),
    },
    `Ramp both to ${percent} %`,
  );
}

/** By a clock on which every look at it is long after the one before: no reading counts as fresh. */
async function applied(options: Partial<ApplyOptions> = {}): Promise<Applied> {
  await using run = await opened(false);
  const time: Time = {
    now: () => clock,
    sleep: async (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
    random: () => 0,
  };
  const result = await reconcile(run.context, {
    openWriter: run.openWriter,
    now: () => (clock += 60_000),
    signal: new AbortController().signal,
    time,
    progress: {},
    note: {},
    onKill: () => undefined,
    ...options,
  });
  if (!('outcomes' in result)) throw new Error('a guard stood against it');
  return result;
}

async function opened(dryRun: boolean) {
  return openRun(
    scenario.repository.directory,
    {
      ...{ dryRun, url: scenario.service.origin, environment: [], only: [], lockTimeout: 0 },
      // One step after the other: what is held keeps the next from being sent.
      concurrency: 1,
    },
    {
      settings: operatorSettings(scenario.env),
      signal: new AbortController().signal,
      note: () => undefined,
    },
  );
}

/** Runs while somebody sets the traffic allocation of the other flag behind the run's back. */
async function overtaken(allocation: number, options?: Partial<ApplyOptions>): Promise<Applied> {
  scenario.service.failNext({ method: 'PATCH', path: /alpha/ }, 'hold');
  const running = applied(options);
  await scenario.service.held();
  await live.ok('PATCH', betaPath(), [
    { op: 'replace', path: '/trafficAllocation', value: allocation },
  ]);
  scenario.service.release();
  return running;
}

function betaPath(): string {
  return `/splits/ws/${live.id}/beta/environments/${live.staging}`;
}

function wholePath(): string {
  return `/internal/api/v2${betaPath()}`;
}

async function beta(): Promise<{ trafficAllocation: number; on: number }> {
  const found = await live.ok<{
    trafficAllocation: number;
    defaultRule: { treatment: string; size: number }[];
  }>('GET', betaPath());
  const on = found.defaultRule.find(({ treatment }) => treatment === 'on')?.size ?? 0;
  return { trafficAllocation: found.trafficAllocation, on };
}

it('what changed meanwhile is planned again by the policy, and stays as it is under a reviewed plan', async () => {
  const planned = await overtaken(55);
  expect(planned.outcomes.get(BETA)).toEqual({ status: 'applied' });
  expect(planned).toMatchObject({ converged: true, left: [] });
  expect(await beta()).toEqual({ trafficAllocation: 100, on: 20 });

  const policy = '{ staging: { onConflict: hold, onDrift: report } }';
  scenario.commit(
    { 'flagkeel.yaml': `workspace: Default\nenvironments: ${policy}\n` },
    'Hold conflicts',
  );
  ramp(30);
  const judged = await overtaken(55);
  expect(judged.outcomes.get(BETA)).toEqual({ status: 'applied' });
  // Git and somebody else changed different fields: each keeps its own.
  expect(await beta()).toEqual({ trafficAllocation: 55, on: 30 });

  ramp(40);
  await using dry = await opened(true);
  const { planHash } = await plan(dry.context);
  const reviewed = await overtaken(65, { reviewed: planHash });
  expect(reviewed.outcomes.get(BETA)).toMatchObject({
    status: 'failed',
    error: { code: 'CHANGED_MEANWHILE' },
  });
  expect(reviewed.converged).toBe(false);
  expect(await beta()).toEqual({ trafficAllocation: 65, on: 30 });
});

it('there are two rounds more and no third, however often somebody interferes', async () => {
  let size = 30;
  for (let reads = 0; reads < 50; reads += 1) {
    scenario.service.failNext({ method: 'GET', path: /\/beta\/environments\// }, 'hold');
  }
  const running = applied();
  let isDone = false;
  const ended = running.finally(() => {
    isDone = true;
  });
  // Set by then while something else is awaited.
  while (!(isDone as boolean)) {
    await Promise.race([scenario.service.held(), ended]);
    size += 1;
    const meddling = { op: 'replace', path: '/trafficAllocation', value: size };
    await live.ok('PATCH', betaPath(), [meddling]);
    scenario.service.release();
  }

  const result = await running;

  expect(result.outcomes.get(BETA)).toMatchObject({ error: { code: 'CHANGED_MEANWHILE' } });
  // In each of three rounds: for the plan, before the patch, and afterwards.
  const reads = scenario.service.requests.filter(
    ({ method, path }) => method === 'GET' && path === wholePath(),
  );
  expect(reads).toHaveLength(9);
});

it('what was refused because the service did not see yet what it needs is sent in the next round', async () => {
  scenario.commit({ 'flags/gamma.yaml': flag('gamma', 30) }, 'Add gamma');
  scenario.service.failNext({ method: 'POST', path: /gamma\/environments\// }, 404);

  const result = await applied();

  expect(scenario.service.faultsLeft()).toBe(0);
  expect(result.outcomes.get('flag/gamma@staging')).toEqual({ status: 'applied' });
  expect(result.converged).toBe(true);
});

it('a write that is never shown fails the run clearly, after a bounded time', async () => {
  scenario.service.showStale(1_000);

  const result = await applied();

  expect(result.converged).toBe(false);
  expect(result.unverified).toContain(`${BETA}: written, and the service still shows`);
  expect(pauses.reduce((sum, ms) => sum + ms)).toBe(15_000);
});

it('what somebody else made of a write is waited for by nobody', async () => {
  scenario.service.failNext({ method: 'PATCH', path: /beta/ }, 'hold');
  const running = applied();
  await scenario.service.held();
  await live.ok('PATCH', betaPath().replace('beta', 'alpha'), [
    { op: 'replace', path: '/trafficAllocation', value: 55 },
  ]);
  scenario.service.release();

  const result = await running;

  expect(result).toMatchObject({ converged: false, left: [{ id: 'flag/alpha@staging' }] });
  expect(pauses).toEqual([]);
});
