import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Time } from '../../src/api/time.js';
import { openRun } from '../../src/compose/open-run.js';
import { operatorSettings } from '../../src/config.js';
import { plan, reconcile, type ApplyOptions } from '../../src/reconcile.js';
import type { Applied } from '../../src/stages/run.js';
import { ConfigRepository } from '../support/config-repository.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG = 'workspace: Default\nenvironments: { staging: {} }\n';

function flag(name: string, percent: number): string {
  return `flag: ${name}
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${percent}, "off": rest } }
`;
}

const BETA = 'flag/beta@staging';

let repository: ConfigRepository;
let service: TestService;
let live: LiveWorkspace;
let clock: number;
let pauses: number[];

beforeEach(async () => {
  clock = 0;
  pauses = [];
  repository = new ConfigRepository();
  service = await startTestService();
  live = await liveWorkspace(service);
  repository.write({
    'flaghoist.yaml': CONFIG,
    'flags/alpha.yaml': flag('alpha', 10),
    'flags/beta.yaml': flag('beta', 10),
  });
  repository.commit('Add two flags');
  expect(await applied()).toMatchObject({ converged: true });
  ramp(20);
  service.requests.length = 0;
});

afterEach(async () => {
  service.release();
  await service.stop();
  repository[Symbol.dispose]();
});

function ramp(percent: number): void {
  repository.write({
    'flags/alpha.yaml': flag('alpha', percent),
    'flags/beta.yaml': flag('beta', percent),
  });
  repository.commit(`Ramp both to ${percent} %`);
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
    words: {},
    onKill: () => undefined,
    ...options,
  });
  if (!('outcomes' in result)) throw new Error('a guard stood against it');
  return result;
}

async function opened(dryRun: boolean) {
  return openRun(
    repository.directory,
    { dryRun, url: service.origin, environment: [], only: [], lockTimeout: 0 },
    {
      settings: operatorSettings({ FLAGHOIST_API_KEY: service.key }),
      signal: new AbortController().signal,
      note: () => undefined,
    },
  );
}

/** Runs while somebody changes the other flag behind the run's back. */
async function overtaken(options?: Partial<ApplyOptions>): Promise<Applied> {
  service.failNext({ method: 'PATCH', path: /alpha/ }, 'hold');
  const running = applied(options);
  await service.held();
  await live.ok('PATCH', betaPath(), [{ op: 'replace', path: '/trafficAllocation', value: 55 }]);
  service.release();
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

it('what changed meanwhile is planned again, and applied in the next round', async () => {
  const result = await overtaken();

  expect(result.outcomes.get(BETA)).toEqual({ status: 'applied' });
  expect(result).toMatchObject({ converged: true, left: [] });
  expect(await beta()).toEqual({ trafficAllocation: 100, on: 20 });
});

it('what changed meanwhile is judged by the policy when it is planned again', async () => {
  repository.write({
    'flaghoist.yaml':
      'workspace: Default\nenvironments: { staging: { onConflict: hold, onDrift: report } }\n',
  });
  repository.commit('Hold conflicts');

  const result = await overtaken();

  expect(result.outcomes.get(BETA)).toEqual({ status: 'applied' });
  // Git and somebody else changed different fields: each keeps its own.
  expect(await beta()).toEqual({ trafficAllocation: 55, on: 20 });
});

it('what changed meanwhile stays as it is under a reviewed plan', async () => {
  await using dry = await opened(true);
  const { planHash } = await plan(dry.context);

  const result = await overtaken({ reviewed: { planHash } });

  expect(result.outcomes.get(BETA)).toMatchObject({
    status: 'failed',
    error: { code: 'CHANGED_MEANWHILE' },
  });
  expect(result.converged).toBe(false);
  expect(await beta()).toEqual({ trafficAllocation: 55, on: 10 });
});

it('there are two rounds more and no third, however often somebody interferes', async () => {
  let size = 30;
  for (let reads = 0; reads < 50; reads += 1) {
    service.failNext({ method: 'GET', path: /\/beta\/environments\// }, 'hold');
  }
  const running = applied();
  let isDone = false;
  const ended = running.finally(() => {
    isDone = true;
  });
  // Set by then while something else is awaited.
  while (!(isDone as boolean)) {
    await Promise.race([service.held(), ended]);
    size += 1;
    const meddling = { op: 'replace', path: '/trafficAllocation', value: size };
    await live.ok('PATCH', betaPath(), [meddling]);
    service.release();
  }

  const result = await running;

  expect(result.outcomes.get(BETA)).toMatchObject({ error: { code: 'CHANGED_MEANWHILE' } });
  // In each of three rounds: for the plan, before the patch, and afterwards.
  const reads = service.requests.filter(
    ({ method, path }) => method === 'GET' && path === wholePath(),
  );
  expect(reads).toHaveLength(9);
});

it('what was refused because the service did not see yet what it needs is sent in the next round', async () => {
  repository.write({ 'flags/gamma.yaml': flag('gamma', 30) });
  repository.commit('Add gamma');
  service.failNext({ method: 'POST', path: /gamma\/environments\// }, 404);

  const result = await applied();

  expect(service.faultsLeft()).toBe(0);
  expect(result.outcomes.get('flag/gamma@staging')).toEqual({ status: 'applied' });
  expect(result.converged).toBe(true);
});

it('a write is waited for until the service shows it', async () => {
  service.showStale(2);

  const result = await applied();

  expect(result).toMatchObject({ converged: true, left: [] });
  expect(result.unverified).toBeUndefined();
  expect(pauses.length).toBeGreaterThan(0);
  expect(pauses.length).toBeLessThanOrEqual(2);
});

it('a write that is never shown fails the run clearly, after a bounded time', async () => {
  service.showStale(1_000);

  const result = await applied();

  expect(result.converged).toBe(false);
  expect(result.unverified).toContain(`${BETA}: written, and the service still shows`);
  expect(pauses.reduce((sum, ms) => sum + ms)).toBe(15_000);
});

it('what somebody else made of a write is waited for by nobody', async () => {
  service.failNext({ method: 'PATCH', path: /beta/ }, 'hold');
  const running = applied();
  await service.held();
  await live.ok('PATCH', betaPath().replace('beta', 'alpha'), [
    { op: 'replace', path: '/trafficAllocation', value: 55 },
  ]);
  service.release();

  const result = await running;

  expect(result).toMatchObject({ converged: false, left: ['flag/alpha@staging'] });
  expect(pauses).toEqual([]);
});
