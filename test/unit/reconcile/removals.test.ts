import { expect, it } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import {
  appliedWorld,
  flagSpec,
  PIPELINE_CONFIG,
  textOf,
  withheldIn,
} from '../../support/pipeline-world.js';

const STAYS = { 'flags/stays.yaml': flagSpec('stays') };
const STAFF = 'segment: staff\nenvironments: { production: { keys: [ana] } }\n';

it('names the fetch before the command that removes a flag from a clone of depth 1', async () => {
  const world = await appliedWorld({ ...STAYS, 'flags/pay.yaml': flagSpec('pay') });
  const { repository } = world;
  const head = repository.commit('Remove pay', {
    'flags/pay.yaml': null,
    'flagkeel.yaml': `${PIPELINE_CONFIG}guards: { maxDeletePercent: 100 }\n`,
  });
  const whole = makeDirectory();
  repository.git('clone', '--quiet', '--bare', '.', whole);
  repository.write({ '.git/shallow': `${head}\n` });
  repository.git('reflog', 'expire', '--expire=now', '--all');
  repository.git('gc', '--quiet', '--prune=now');

  const shallow = textOf(await world.reported());

  expect(shallow).toContain('fetch the whole history first');
  expect(shallow).toContain('flagkeel reconcile --prune --only flag/pay');
  expect(withheldIn(await world.applied({ prune: true, only: ['flag/pay'] }))).toContain(
    'flag/pay@production no-witness',
  );
  repository.git('fetch', '--quiet', '--unshallow', whole);
  expect(textOf(await world.reported())).not.toContain('fetch');
  expect(await world.applied({ prune: true, only: ['flag/pay'] })).toMatchObject({
    converged: true,
  });
  expect(withheldIn(await world.planned())).toEqual([]);
});

it('does not offer a command that cannot remove a segment, on a service without lists', async () => {
  const world = await appliedWorld({ ...STAYS, 'segments/staff.yaml': STAFF }, { strict: true });
  const { live, repository } = world;
  repository.commit('Remove staff', { 'segments/staff.yaml': null });

  const told = textOf(world.reportOf(await world.applied()));

  expect(told).toContain('delete it there by hand');
  expect(told).not.toContain('--prune');
  await live.ok('PUT', `/segments/${live.production}/staff/removeKeys`, { keys: ['ana'] });
  await live.ok('DELETE', `/segments/ws/${live.id}/staff`);
  const { converged, state } = await world.applied();
  expect([converged, [...state.keys()]]).toEqual([true, ['flag/stays']]);
});
