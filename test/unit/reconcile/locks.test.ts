import { beforeEach, expect, it } from 'vitest';
import type { Applied, Planned, RunContext } from '../../../src/reconcile/context.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

let world: PipelineWorld;
let first: string;

beforeEach(async () => {
  world = await pipelineWorld();
  first = world.repository.commit('Add pay', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
  await world.applied();
  world.writes();
});

/** A run whose locks are counted, and preceded by something. */
async function run(before: (home: StateHome, context: RunContext) => Promise<void>): Promise<{
  readonly done: Planned | Applied;
  readonly locks: number;
}> {
  let locks = 0;
  const done = await world.reconciled({}, {}, (context) => ({
    lockState: async (home) => {
      locks += 1;
      await before(home, context);
      await context.lockState(home);
    },
  }));
  return { done, locks };
}

const nothing = async (): Promise<void> => Promise.resolve();

it('a run that has nothing to write takes no lock', async () => {
  expect(await run(nothing)).toMatchObject({ locks: 0, done: { verdict: { whole: 'live' } } });
});

it('a run that writes the state alone takes the lock', async () => {
  const next = world.repository.commit('Say something', { 'README.md': 'Flags\n' });

  const { locks, done } = await run(nothing);

  expect(locks).toBe(1);
  expect(done).toMatchObject({ verdict: { whole: 'live' } });
  expect(world.repository.git('show', `${done.remembered.home?.ref ?? ''}:run.json`)).toContain(
    next,
  );
});

it('a state that another run wrote between the plan and the lock is planned from', async () => {
  const newer = world.repository.commit('Ramp pay', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
  });
  world.repository.git('checkout', '--quiet', first);
  const { live } = world;
  await live.set('pay', { on: 0 }, 'staging');
  world.writes();

  const late = run(async (_, { source: { checkout } }) => {
    const place = { workspaceId: live.id, origin: world.service.origin, directory: '' };
    const elsewhere = await openStateHome({ checkout, ...place });
    const { state = new Map() } = (await elsewhere?.read()) ?? {};
    await elsewhere?.write(state, { head: newer, message: 'Apply elsewhere' });
  });

  await expect(late).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  expect(world.writes()).toEqual([]);
});
