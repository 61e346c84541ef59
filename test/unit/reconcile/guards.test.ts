import { beforeEach, expect, it } from 'vitest';
import { planOptionsOf } from '../../../src/model/remedy.js';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import { RunCache } from '../../../src/reconcile/context.js';
import { planDocument } from '../../../src/report/json/plan.js';
import type { Files } from '../../support/git.js';
import {
  appliedWorld,
  flagSpec,
  PIPELINE_CONFIG,
  type PipelineWorld,
  type RunSettings,
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

it('a command past a guard names the service that only the command line named', async () => {
  const far = { 'flags/pay.yaml': flagSpec('pay', { on: 60 }) };
  world.repository.commit('Ramp by far', far);

  const { exitCode, stdout } = await world.command('reconcile');

  expect(exitCode).toBe(4);
  const command = new RegExp(`reconcile --approve sha256:\\w{64} --url ${world.service.origin}`);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(command);

  const { options } = (await world.opened()).context;
  const embedded = { ...options, embedded: true, embeddedDir: 'store' };
  expect(planOptionsOf(embedded)).toEqual(['--embedded', '--embedded-dir', 'store']);
});

it('holds a change to the guards that were applied last, though its own commit loosens them', async () => {
  world.repository.commit('Ramp by far, and drop the guard', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
  });
  expect((await world.planned()).guardFindings.map(({ guard }) => guard)).toContain('maxShift');
});

const FROZEN = 'freezes: { all-year: { from: 2000-01-01, to: 2100-01-01, zone: UTC } }\n';

it.each([
  ['a freeze', FROZEN, {}, { overrideWindow: 'it is urgent' }],
  ['a suspension', '', { suspend: SUSPENDED_BY_CONFIG }, {}],
  ['a run of another object', '', { only: ['flag/shop'] }, {}],
] satisfies [string, string, RunSettings, RunSettings][])(
  'a change that %s made wait does not pass the guard that its own commit drops, and the next change does',
  async (_, config, waiting, going) => {
    world.repository.commit('Ramp by far, and drop the guard', {
      'flagkeel.yaml': PIPELINE_CONFIG + config,
      'flags/pay.yaml': flagSpec('pay', { on: 60 }),
      'flags/shop.yaml': flagSpec('shop'),
    });
    for (let run = 0; run < 2; run += 1) await world.applied(waiting);
    expect(await world.live.share('pay')).toBe(10);

    const { guardFindings, planHash } = await world.planned(going);
    expect(guardFindings.map(({ guard }) => guard)).toContain('maxShift');
    await world.applied({ ...going, approvals: [{ hash: planHash }] });
    world.repository.commit('Ramp on', { 'flags/pay.yaml': flagSpec('pay', { on: 90 }) });
    expect((await world.planned(going)).guardFindings).toEqual([]);
  },
);

it('goes by the guards of HEAD where the applied commit is not before it', async () => {
  world.repository.git('checkout', '--quiet', '--orphan', 'afresh');
  world.repository.commit('Start again without the guard', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
  });
  expect((await world.planned({ allowOlder: true })).guardFindings).toEqual([]);
});

it.each([
  ['one object', { only: ['flag/pay'] }],
  ['touched objects', { touchedSince: 'memory', memory: new RunCache() }],
] satisfies [string, RunSettings][])(
  'goes by the guards of a commit that runs over %s have applied as a whole',
  async (_, settings) => {
    await world.applied(settings);
    world.repository.commit('Drop the guard', { 'flagkeel.yaml': PIPELINE_CONFIG });
    await world.applied(settings);
    world.repository.commit('Ramp', { 'flags/pay.yaml': flagSpec('pay', { on: 60 }) });

    expect((await world.planned(settings)).guardFindings).toEqual([]);
    expect(await world.applied(settings)).toMatchObject({ converged: true });
  },
);

it.each([
  ['a changed flag', { 'flags/pay.yaml': flagSpec('pay', { on: 60 }) }],
  ['a removed flag', { 'flags/pay.yaml': null }],
  [
    'a ramp that has not begun',
    {
      'flags/pay.yaml': flagSpec('pay', {
        production: 'ramp: { start: 2030-01-01T00:00:00Z, steps: "60, 1d, 100" }',
      }),
    },
  ],
] satisfies [string, Files][])(
  'goes by the guards of before while a filter leaves out %s of the commit that drops them',
  async (_, files) => {
    world.repository.commit('Add shop', { 'flags/shop.yaml': flagSpec('shop') });
    await world.applied();
    world.repository.commit('Drop the guard', { 'flagkeel.yaml': PIPELINE_CONFIG, ...files });
    const only = ['flag/shop'];
    for (let run = 0; run < 2; run += 1) await world.applied({ only });
    world.repository.commit('Ramp', { 'flags/shop.yaml': flagSpec('shop', { on: 60 }) });

    expect((await world.planned({ only })).guardFindings).toHaveLength(2);
  },
);
