import { beforeEach, expect, it } from 'vitest';
import type { ApplyOptions } from '../../../src/reconcile/apply.js';
import type { Applied } from '../../../src/reconcile/context.js';
import { appliedWorld, type PipelineWorld } from '../../support/pipeline-world.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';

const [ALPHA, BETA] = ['flag/alpha@staging', 'flag/beta@staging'] as const;

let world: PipelineWorld;
let clock: number;
let pauses: number[];

const flag = (name: string, percent: number): Record<string, string> => ({
  [`flags/${name}.yaml`]: flagText(name, percent, { staging: '' }),
});
const both = (percent: number) => ({ ...flag('alpha', percent), ...flag('beta', percent) });

/** Two flags are live, and a commit ramps both. */
beforeEach(async () => {
  [clock, pauses] = [0, []];
  world = await appliedWorld({ 'flagkeel.yaml': STAGING_CONFIG, ...both(10) });
  ramp(20);
});

function ramp(percent: number): void {
  world.repository.commit(`Ramp both to ${percent} %`, both(percent));
}

/** By a clock on which no reading counts as fresh, and one step after the other: a held one keeps the next back. */
async function applied(options: Partial<ApplyOptions> = {}): Promise<Applied> {
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const time = { now: () => clock, sleep, random: () => 0 };
  const now = (): number => (clock += 60_000);
  return world.applied({ concurrency: 1 }, { now, time, ...options });
}

/** Runs while somebody sets the traffic allocation of a flag, before the first write to another is answered. */
async function overtaken(
  held: string,
  other: string,
  trafficAllocation: number,
  options?: Partial<ApplyOptions>,
): Promise<Applied> {
  world.service.failNext({ method: 'PATCH', path: new RegExp(held) }, 'hold');
  const running = applied(options);
  await world.service.held();
  await world.live.set(other, { trafficAllocation }, 'staging');
  world.service.release();
  return running;
}

async function beta(): Promise<[trafficAllocation: number, on: number]> {
  const { trafficAllocation } = await world.live.definition('beta', 'staging');
  return [trafficAllocation, await world.live.share('beta', 'staging')];
}

it('what changed meanwhile is planned again by the policy, and stays as it is under a reviewed plan', async () => {
  const planned = await overtaken('alpha', 'beta', 55);
  expect(planned.outcomes.get(BETA)).toEqual({ status: 'applied' });
  expect(planned).toMatchObject({ converged: true, left: [] });
  expect(await beta()).toEqual([100, 20]);

  const policy = STAGING_CONFIG.replace('{}', '{ onConflict: hold, onDrift: report }');
  world.repository.commit('Hold conflicts', { 'flagkeel.yaml': policy });
  ramp(30);
  const judged = await overtaken('alpha', 'beta', 55);
  expect(judged.outcomes.get(BETA)).toEqual({ status: 'applied' });
  // Git and somebody else changed different fields: each keeps its own.
  expect(await beta()).toEqual([55, 30]);

  ramp(40);
  const { planHash } = await world.planned();
  const reviewed = await overtaken('alpha', 'beta', 65, { reviewed: planHash });
  expect(reviewed.outcomes.get(BETA)).toMatchObject({
    status: 'failed',
    error: { code: 'CHANGED_MEANWHILE' },
  });
  expect(reviewed.converged).toBe(false);
  expect(await beta()).toEqual([65, 30]);
});

it('what the service does not show any more is not called changed', async () => {
  const { planHash } = await world.planned();
  world.service.failNext({ method: 'PATCH', path: /alpha/ }, 'hold');
  const running = applied({ reviewed: planHash });
  await world.service.held();
  await world.live.ok('DELETE', world.live.at('beta', 'staging'));
  world.service.release();

  const { outcomes } = await running;
  expect(outcomes.get(BETA)).toMatchObject({
    error: {
      message: expect.stringContaining('does not show it now, or not to this key') as string,
    },
  });
});

it('there are two rounds more and no third, however often somebody interferes', async () => {
  const isLook = { method: 'GET', path: /\/beta\/environments\// };
  for (let reads = 0; reads < 50; reads += 1) world.service.failNext(isLook, 'hold');
  const running = applied();
  let isDone = false;
  const ended = running.finally(() => {
    isDone = true;
  });
  // Set by then while something else is awaited.
  for (let size = 31; !(isDone as boolean); size += 1) {
    await Promise.race([world.service.held(), ended]);
    await world.live.set('beta', { trafficAllocation: size }, 'staging');
    world.service.release();
  }

  const result = await running;

  expect(result.outcomes.get(BETA)).toMatchObject({ error: { code: 'CHANGED_MEANWHILE' } });
  // In each of three rounds: for the plan, before the patch, and afterwards.
  const path = `/internal/api/v2${world.live.at('beta', 'staging')}`;
  const reads = world.service.requests.filter(
    (each) => each.method === 'GET' && each.path === path,
  );
  expect(reads).toHaveLength(9);
});

it('what was refused because the service did not see yet what it needs is sent in the next round', async () => {
  world.repository.commit('Add gamma', flag('gamma', 30));
  world.service.failNext({ method: 'POST', path: /gamma\/environments\// }, 404);

  const result = await applied();

  expect(world.service.faultsLeft()).toBe(0);
  expect(result.outcomes.get('flag/gamma@staging')).toEqual({ status: 'applied' });
  expect(result.converged).toBe(true);
});

it('a write that is never shown fails the run clearly, after a bounded time', async () => {
  world.service.showStale(1_000);

  const result = await applied();

  expect(result.converged).toBe(false);
  expect(result.left.map(({ id }) => id)).toEqual([ALPHA, BETA]);
  expect(result.unverified).toBe(
    `${ALPHA}, ${BETA}: written, and the service still shows what was there before`,
  );
  expect([...result.outOfSync]).toEqual(['flag/alpha', 'flag/beta']);
  expect(pauses.reduce((sum, ms) => sum + ms)).toBe(15_000);
});

it('what somebody else made of a write is waited for by nobody', async () => {
  const result = await overtaken('beta', 'alpha', 55);

  expect(result).toMatchObject({ converged: false, left: [{ id: ALPHA }] });
  expect(pauses).toEqual([]);
});
