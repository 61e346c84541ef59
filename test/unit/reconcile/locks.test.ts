import { beforeEach, expect, it } from 'vitest';
import type { Applied, Planned, RunContext } from '../../../src/reconcile/context.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import { appliedWorld, flagSpec, type PipelineWorld } from '../../support/pipeline-world.js';

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld();
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

it('a run takes the lock where it writes the state alone, and none where it has nothing to write', async () => {
  const nothing = async (): Promise<void> => Promise.resolve();
  expect(await run(nothing)).toMatchObject({ locks: 0, done: { verdict: { whole: 'live' } } });
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
  world.repository.git('checkout', '--quiet', 'HEAD^');
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
