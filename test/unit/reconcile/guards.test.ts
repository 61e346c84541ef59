import { beforeEach, expect, it } from 'vitest';
import { planDocument } from '../../../src/report/json/plan.js';
import {
  appliedWorld,
  flagSpec,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const STRICT = `${PIPELINE_CONFIG}guards: { maxShift: 5 }\n`;

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld({
    'flagkeel.yaml': STRICT,
    'flags/pay.yaml': flagSpec('pay'),
  });
});

it('writes nothing where a guard stands, until the plan is approved, and no other', async () => {
  const commit = world.repository.commit('Ramp by far', {
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
  });
  const before = world.repository.git('for-each-ref', 'refs/flagkeel');
  const stood = await world.reconciled();
  expect('outcomes' in stood).toBe(false);
  expect(
    stood.guardFindings.map(({ guard, environment }) => `${guard} ${environment ?? ''}`),
  ).toEqual(['maxShift staging', 'maxShift production']);
  expect(world.writes()).toEqual([]);
  expect(world.repository.git('for-each-ref', 'refs/flagkeel')).toBe(before);

  const { planHash, guards = [] } = planDocument(await world.reported());

  expect(guards.map(({ says }) => says)).toContain(
    `flag/pay@production: up to 50 % of the traffic gets another treatment, the limit is 5 % (maxShift); on 10 → 60 %, reaches 50 % off → on, commit ${commit.slice(0, 7)}`,
  );

  const other = await world.reconciled({ approvals: [{ hash: `${planHash}0` }] });
  expect('outcomes' in other).toBe(false);
  const done = await world.applied({ approvals: [{ hash: planHash }] });
  expect(done.converged).toBe(true);
  expect([...done.notes.values()].map(({ comment }) => comment.split('\n')[0])).toEqual(
    done.plan.changes.map(
      () =>
        `Sent although a guard refused it (maxShift of flag/pay@staging, 50 over 5; maxShift of flag/pay@production, 50 over 5): approved as ${planHash}`,
    ),
  );
});

it('holds a change to the guards that were applied last, though its own commit loosens them', async () => {
  world.repository.commit('Ramp by far, and drop the guard', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
  });
  expect((await world.planned()).guardFindings.map(({ guard }) => guard)).toContain('maxShift');
});

it('goes by the guards of HEAD where the applied commit is not before it', async () => {
  world.repository.git('checkout', '--quiet', '--orphan', 'afresh');
  world.repository.commit('Start again without the guard', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
  });
  expect((await world.planned({ allowOlder: true })).guardFindings).toEqual([]);
});
