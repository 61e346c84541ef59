import { expect, it } from 'vitest';
import { appliedWorld, flagSpec, PIPELINE_CONFIG } from '../../support/pipeline-world.js';

const BROKEN = 'flag: broken\ntreatments: 3\n';

it('leaves an invalid object as it is, and applies the rest, where a run may quarantine', async () => {
  const world = await appliedWorld({
    'flagkeel.yaml': `${PIPELINE_CONFIG}prune: true\n`,
    'flags/broken.yaml': flagSpec('broken'),
    'flags/pay.yaml': flagSpec('pay'),
  });
  world.repository.commit('Break one, change the other', {
    'flags/broken.yaml': BROKEN,
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
  });
  const done = await world.applied({ quarantineInvalid: true });
  expect(done.plan.changes.map(({ action, id }) => `${action} ${id}`)).toEqual([
    'update flag/pay@staging',
    'update flag/pay@production',
  ]);
  expect([...done.input.policy.quarantined]).toEqual(['flag/broken']);
  expect(done.invalid.map(({ location }) => location.file)).toContain('flags/broken.yaml');
});
