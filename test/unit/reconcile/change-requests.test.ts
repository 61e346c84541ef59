import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/reconcile/result.js';
import { sharesOf } from '../../support/live-workspace.js';
import { appliedWorld, flagSpec } from '../../support/pipeline-world.js';
import { callsOf } from '../../support/service-calls.js';

const CHANGED = flagSpec('pay', { on: 30 });

/** `pay` as the specs say, and a change request for its definition in staging. */
async function worldWithRequest() {
  const world = await appliedWorld();
  const { live, service } = world;
  const split = { ...(await live.definition('pay', 'staging')), defaultRule: sharesOf(30) };
  const { id } = await live.ok<{ id: string }>(
    'POST',
    `/changeRequests/ws/${live.id}/environments/${live.staging}`,
    { split, operationType: 'UPDATE', title: 't', comment: 'c' },
  );
  world.writes();
  const approver = callsOf({ origin: service.origin, key: await service.createKey('approver') });
  return { world, id, approver };
}

it('holds back what a change request is about, names it, and writes the rest', async () => {
  const { world, id } = await worldWithRequest();
  world.repository.commit('Raise pay', { 'flags/pay.yaml': CHANGED });

  const done = await world.applied();

  const { plan, outcomes } = done;
  expect(done).toMatchObject({ verdict: { whole: 'held' }, converged: false });
  expect(exitCodeOf(done, new AbortController().signal)).toBe(8);
  expect(plan.withheld).toMatchObject([
    {
      id: 'flag/pay@staging',
      why: 'approval-needed',
      because: `change request ${id} is open on the service`,
    },
  ]);
  expect([...outcomes].map(([object, { status }]) => [object, status])).toEqual([
    ['flag/pay@production', 'applied'],
  ]);
  expect(world.writes().map(({ status }) => status)).toEqual([200]);
});

it('is in sync once it is approved as the specs say', async () => {
  const { world, id, approver } = await worldWithRequest();
  world.repository.commit('Raise pay', { 'flags/pay.yaml': CHANGED });
  await world.applied();

  await approver.ok('PUT', `/changeRequests/${id}`, { status: 'APPROVED' });

  const { plan } = await world.planned();
  expect(plan.changes).toEqual([]);
  expect(plan.withheld).toEqual([]);
});

it('kills past it', async () => {
  const { world } = await worldWithRequest();
  const kill = flagSpec('pay', { staging: 'killed: true' });
  world.repository.commit('Kill pay', { 'flags/pay.yaml': kill });

  await world.applied();

  expect(await world.live.definition('pay', 'staging')).toMatchObject({ killed: true });
});

it('an environment that wants approvals is never in sync while a change waits for one, and says why a kill is refused', async () => {
  const world = await appliedWorld();
  const { repository, live } = world;
  const run = async (...words: readonly string[]) => world.command(...words);
  await live.permit({ areApprovalsRequired: true });
  repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });
  for (const { exitCode, stdout } of [await run('reconcile'), await run('reconcile')]) {
    expect(exitCode).toBe(8);
    expect(stdout).not.toContain('In sync');
    expect(stdout).toContain(
      'Not in sync: flag/pay@production held for an approval on the service; ',
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('in a change request, and have it approved');
  }
  const allowed = await run('reconcile', '--allow-held', '--format', 'json');
  expect(allowed.exitCode).toBe(0);
  expect(JSON.parse(allowed.stdout)).toMatchObject({ converged: false });

  const { exitCode, stderr } = await run('kill', 'pay', '--environment', 'production');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('cannot kill flag "pay"');
  expect(stderr).toContain('changes in this environment need an approval');

  repository.commit('List testers', {
    'segments/beta.yaml':
      'segment: beta\ntrafficType: user\nenvironments: { production: { keys: [ana, bo] } }\n',
  });
  const active = (await run('reconcile', '--verbose')).stdout;
  expect(active).toContain('production partly applied, the rest skipped: ');
  expect(active).toContain('(1 written in part)');
});
