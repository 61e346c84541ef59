import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/reconcile/result.js';
import { sharesOf } from '../../support/on-off.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { callsOf } from '../../support/service-calls.js';

interface Asked {
  readonly id: string;
  readonly environment: { readonly name: string };
  readonly segment: { readonly name: string } | null;
}

const BETA_RULE = 'rules: [{ name: beta, if: { segment: beta }, serve: { "on": 100 } }]';

it('holds back what a change request is about, names it, writes the rest, and kills past it', async () => {
  const world = await appliedWorld();
  const { live, repository } = world;
  const split = { ...(await live.definition('pay', 'staging')), defaultRule: sharesOf(30) };
  const { id } = await live.ok<{ id: string }>(
    'POST',
    `/changeRequests/ws/${live.id}/environments/${live.staging}`,
    { split, operationType: 'UPDATE', title: 't', comment: 'c' },
  );
  repository.commit('Raise pay', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });

  const done = await world.applied();

  expect(done).toMatchObject({ verdict: { whole: 'held' }, converged: false });
  expect(exitCodeOf(done, new AbortController().signal)).toBe(8);
  const because = `change request ${id} is open on the service`;
  expect(done.plan.withheld).toMatchObject([
    { id: 'flag/pay@staging', why: 'approval-needed', because },
  ]);
  expect([...done.outcomes]).toEqual([['flag/pay@production', { status: 'applied' }]]);

  const kill = flagSpec('pay', { on: 30, staging: 'killed: true' });
  repository.commit('Kill pay', { 'flags/pay.yaml': kill });
  await world.applied();
  expect(await live.definition('pay', 'staging')).toMatchObject({ killed: true });
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

it('an apply says how old a change request is, as the plan after it does', async () => {
  const config = `${PIPELINE_CONFIG}approvals: request\n`;
  const world = await appliedWorld({ 'flagkeel.yaml': config, 'flags/pay.yaml': flagSpec('pay') });
  await world.live.permit({ areApprovalsRequired: true });
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });

  for (const words of [['reconcile'], ['reconcile', '--dry-run']]) {
    const { stdout } = await world.command(...words);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /waits for approval: change request \S+ by [^,]+, \d+ min/,
    );
  }
});

describe('where two environments want approvals', () => {
  async function permitted(): Promise<PipelineWorld> {
    const world = await appliedWorld({
      'flagkeel.yaml': `${PIPELINE_CONFIG}approvals: request\n`,
      'flags/pay.yaml': flagSpec('pay'),
    });
    const { live } = world;
    await live.permit({ areApprovalsRequired: true });
    await live.ok('PATCH', `/environments/ws/${live.id}/${live.staging}`, [
      { op: 'replace', path: '/changePermissions/areApprovalsRequired', value: true },
    ]);
    return world;
  }

  it('asks for both in one run, and does not take the request of one for that of the other', async () => {
    const world = await permitted();
    const { live, repository } = world;
    repository.commit('Raise pay', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });

    const { outcomes } = await world.applied();

    const { data } = await live.ok<{ data: Asked[] }>('GET', '/changeRequests?limit=9');
    const named = [...outcomes].map(([id, end]) => [
      id,
      data.find((each) => 'request' in end && each.id === end.request.id)?.environment.name,
    ]);
    expect(Object.fromEntries(named)).toEqual({
      'flag/pay@staging': 'staging',
      'flag/pay@production': 'production',
    });
  });

  it('says of what uses a waiting segment that it waits for the segment, and remembers no request for it', async () => {
    const world = await permitted();
    const { live, repository } = world;
    repository.commit('Test pay', {
      'segments/beta.yaml': 'segment: beta\nenvironments: { production: { keys: [ana] } }\n',
      'flags/pay.yaml': flagSpec('pay', { production: BETA_RULE }),
    });

    const { outcomes, verdict } = await world.applied();

    const { data } = await live.ok<{ data: Asked[] }>('GET', '/changeRequests?limit=9');
    expect(data).toMatchObject([{ segment: { name: 'beta' } }]);
    expect(outcomes.get('flag/pay@production')).not.toHaveProperty('request');
    expect(verdict.objects.get('flag/pay@production')).toMatchObject({ why: 'another-object' });
    expect(verdict.objects.get('segment/beta@production')).toMatchObject({ why: 'approval' });
    const shown = await world.command('state', 'show', 'flag/pay');
    expect(shown.stdout).not.toContain(data[0]?.id);
  });
});

it('serves no old share between the approvals of a smaller one and of the end of a kill', async () => {
  const world = await appliedWorld({
    'flagkeel.yaml': `${PIPELINE_CONFIG}approvals: request\n`,
    'flags/pay.yaml': flagSpec('pay', { on: 50 }),
    ...killList('{ pay: { reason: INC-1 } }'),
  });
  const { live, repository, service } = world;
  const approver = callsOf({ origin: service.origin, key: await service.createKey('approver') });
  await live.permit({ areApprovalsRequired: true });
  repository.commit('Bring pay back at 5 %', {
    'flags/pay.yaml': flagSpec('pay', { on: 5 }),
    ...killList('{}'),
  });

  const seen = [];
  for (let asked = 0; asked < 2; asked += 1) {
    const { exitCode } = await world.command('reconcile');
    const path = '/changeRequests?limit=1';
    const { data } = await live.ok<{ data: Record<string, string>[] }>('GET', path);
    await approver.ok('PUT', `/changeRequests/${data[0]?.['id'] ?? ''}`, { status: 'APPROVED' });
    const { killed } = await live.definition('pay');
    seen.push([exitCode, data[0]?.['operationType'], killed, await live.share('pay')]);
  }

  expect(seen).toEqual([
    [8, 'UPDATE', true, 5],
    [8, 'RESTORE', false, 5],
  ]);
  expect((await world.command('reconcile')).exitCode).toBe(0);
});
