import { expect, it } from 'vitest';
import { planDocument } from '../../../src/report/json/plan.js';
import { planMarkdown } from '../../../src/report/markdown/plan.js';
import { appliedWorld, flagSpec, textOf, type RunSettings } from '../../support/pipeline-world.js';

it('a kill and a flag whose time is over are named by every plan and by a review that changes them, and stay as they are', async () => {
  const expiring = (on: number): string =>
    flagSpec('old', { on }).replace('treatments:', 'expires: 2026-10-01\ntreatments:');
  const world = await appliedWorld({
    'flags/pay.yaml': flagSpec('pay'),
    'flags/old.yaml': expiring(10),
    'kills/production.yaml':
      'kills: { pay: { reason: INC-1 double charges, by: ana, review: 2026-10-05 } }\n',
  });
  const reported = async (at: string, settings: RunSettings = {}) =>
    world.reported({ at: Date.parse(at), ...settings });

  const before = planDocument(await reported('2026-10-01T12:00:00Z'));
  const after = await reported('2026-10-06T00:00:00Z');
  const elsewhere = await reported('2026-10-06T00:00:00Z', {
    environment: ['staging'],
    only: ['flag/pay'],
  });
  const later = await world.applied({}, { now: () => Date.parse('2027-01-01T00:00:00Z') });

  expect('reminders' in before).toBe(false);
  expect(planDocument(after).reminders).toEqual([
    { id: 'flag/old', what: 'expiry', due: '2026-10-01' },
    {
      ...{ id: 'flag/pay@production', what: 'review', due: '2026-10-05' },
      ...{ reason: 'INC-1 double charges', by: 'ana' },
    },
  ]);
  const text = textOf(after);
  expect(text).toContain(
    'The kill of flag/pay@production was to be reviewed by 2026-10-05; it stays until a commit takes it back: INC-1 double charges, by ana.',
  );
  expect(text).toContain('In sync');
  expect(planMarkdown(after)).toContain('⏰ flag/old was to be gone by 2026-10-01');
  expect(elsewhere.reminders).toEqual([]);
  expect([later.plan.changes, world.writes()]).toEqual([[], []]);

  world.repository.commit('Ramp old', { 'flags/old.yaml': expiring(20) });
  const review = await reported('2026-10-06T00:00:00Z', { since: 'HEAD^1' });
  expect(review.reminders?.map(({ id }) => id)).toEqual(['flag/old']);
});
