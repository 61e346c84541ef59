import { beforeEach, describe, expect, it } from 'vitest';
import { InvalidSpecsError } from '../../../src/reconcile/context.js';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import { openStateHome } from '../../../src/state/open.js';
import { checkoutOf } from '../../support/git.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  stateRef,
  type PipelineWorld,
  type RunSettings,
} from '../../support/pipeline-world.js';

const KILL_PAY = killList('{ pay: { reason: INC-1 double charges, by: ana } }');
const ID = 'flag/pay@production';

const isKilled = async ({ live }: PipelineWorld): Promise<boolean> =>
  (await live.definition('pay')).killed;

it('does not claim that a flag was alive which it killed without a look', async () => {
  const world = await appliedWorld();
  await world.command('kill', 'pay', '--environment', 'production');
  world.repository.commit('Kill pay', KILL_PAY);

  const { stdout } = await world.command('reconcile');

  expect(stdout).toContain('!! killed: YES (everyone gets the default treatment)');
  expect(stdout).toContain('sent without a look; it may have been killed before');
  const recorded = (await world.command('history', 'flag/pay', '--max-count', '1')).stdout;
  expect(recorded).toContain('/killed: yes');
});

it('sends the kills of specs that are invalid otherwise, and nothing else, and a dry run says which', async () => {
  const world = await appliedWorld();
  world.repository.commit('Kill pay, and break all else', {
    'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    'flags/pay.yaml': flagSpec('pay', { on: 90 }),
    ...KILL_PAY,
  });
  const error: unknown = await world.planned().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(InvalidSpecsError);
  expect(String(error)).toContain(`a run would still kill ${ID}`);
  expect(world.writes()).toEqual([]);

  const told: string[] = [];
  const run = world.applied({}, { onKill: (id, { status }) => told.push(`${id} ${status}`) });
  await expect(run).rejects.toThrow('nothing but the kills was sent');
  expect(told).toEqual([`${ID} killed`]);
  expect(world.writes().map(({ method }) => method)).toEqual(['PATCH']);
  expect(await isKilled(world)).toBe(true);
  expect((await world.command('history')).stdout).toContain('Kill pay, and break all else');
});

it('sends a kill though a guard stands against the rest, and names the hash that approves what is left', async () => {
  const world = await appliedWorld({
    'flags/cart.yaml': flagSpec('cart'),
    'flags/pay.yaml': flagSpec('pay'),
  });
  world.repository.commit('Kill pay with another share, and ramp cart by far', {
    'flagkeel.yaml': `${PIPELINE_CONFIG}guards: { maxShift: 5 }\n`,
    'flags/cart.yaml': flagSpec('cart', { on: 60 }),
    'flags/pay.yaml': flagSpec('pay', { on: 60 }),
    ...KILL_PAY,
  });
  const { stdout } = await world.command('reconcile');
  expect(stdout).toContain('Refused by a guard, nothing but kills is sent');
  expect(world.writes()).toHaveLength(1);
  expect(stdout).toMatch(/^Applied: .* 0 updated, 0 deleted; 4 skipped \(1 written in part\);/m);
  expect(await isKilled(world)).toBe(true);

  const [, hash = ''] = /--approve (sha256:\w+)/.exec(stdout) ?? [];
  const done = await world.applied({ approvals: [{ hash }] });
  expect([done.converged, done.planHash]).toEqual([true, hash]);
  const TITLE = 'Kill pay with another share, and ramp cart by far';
  const [, refused] = (await done.remembered.home?.history({ kind: 'flag', name: 'pay' })) ?? [];
  expect(refused?.changes).toMatchObject([
    { outcome: 'applied', action: 'kill', id: ID, title: TITLE },
  ]);
});

it('kills in spite of a state that cannot be read, in the words of the operator, and then ends', async () => {
  const world = await appliedWorld();
  const { repository } = world;
  repository.commit('Kill pay', KILL_PAY);
  repository.git(
    'update-ref',
    stateRef(world),
    repository.commit('No state', { 'run.json': 'nonsense' }),
  );
  repository.git('reset', '--quiet', '--hard', 'HEAD~1');
  const run = world.applied({}, { note: { title: 'INC-1, by ana' } });
  await expect(run).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
  expect(await isKilled(world)).toBe(true);
  expect(world.writes().map(({ query }) => query['title'])).toEqual(['INC-1, by ana']);
});

describe('an older state that was put back', () => {
  const MAY_BE_ANEW = 'it was changed on the service since, and may be killed anew';
  const TAKEN_BACK = { 'flags/pay.yaml': flagSpec('pay', { on: 20, production: 'killed: false' }) };

  /** Has git or a hand kill pay and take that back, then kills pay by hand, and puts back the state of before. */
  async function killedSince(
    kill: (world: PipelineWorld) => Promise<unknown>,
  ): Promise<PipelineWorld> {
    const world = await appliedWorld({ 'flags/pay.yaml': flagSpec('pay'), ...killList('{}') });
    await kill(world);
    await world.applied();
    const ref = stateRef(world);
    const older = world.repository.git('rev-parse', ref);
    world.repository.commit('Bring pay back', { ...TAKEN_BACK, ...killList('{}') });
    await world.applied();
    expect(await isKilled(world)).toBe(false);
    await world.live.set('pay', { killed: true });
    world.repository.git('update-ref', ref, older);
    return world;
  }

  it.each([
    ['git ordered', async ({ repository }) => Promise.resolve(repository.commit('Kill', KILL_PAY))],
    ['a run saw', async ({ live }) => live.set('pay', { killed: true })],
  ] as [string, (world: PipelineWorld) => Promise<unknown>][])(
    'does not undo a kill made by hand since for the one that %s then, and holds the restore',
    async (_, kill) => {
      const world = await killedSince(kill);

      const runs = [
        await world.command('reconcile', '--dry-run', '--detailed-exitcode'),
        await world.command('reconcile'),
        await world.command('reconcile'),
      ];

      expect(runs.map(({ exitCode }) => exitCode)).toEqual([2, 8, 8]);
      for (const { stdout } of runs) {
        expect(stdout).toContain(MAY_BE_ANEW);
        expect(stdout).toContain('flagkeel restore pay --environment production');
      }
      expect(await isKilled(world)).toBe(true);
      await world.command('restore', 'pay', '--environment', 'production');
      expect([await isKilled(world), (await world.command('reconcile')).exitCode]).toEqual([
        false,
        0,
      ]);
    },
  );

  it.each([
    ['an entry', KILL_PAY, killList('{}')],
    [
      'a field',
      { 'flags/pay.yaml': flagSpec('pay', { production: 'killed: true' }) },
      { 'flags/pay.yaml': flagSpec('pay', { production: 'killed: false' }) },
    ],
  ])('holds the end of %s whose flag was changed without a trace since', async (_, kill, end) => {
    const world = await appliedWorld({ 'flags/pay.yaml': flagSpec('pay'), ...killList('{}') });
    world.repository.commit('Kill', kill);
    await world.applied();
    await world.live.set('pay', { baselineTreatment: 'on' });
    world.repository.commit('Bring pay back', end);

    for (const { stdout, exitCode } of [
      await world.command('reconcile'),
      await world.command('reconcile'),
    ]) {
      expect([exitCode, stdout]).toEqual([8, expect.stringContaining(MAY_BE_ANEW)]);
    }
    expect(await isKilled(world)).toBe(true);
    world.repository.commit('Order the kill again', kill);
    await world.applied();
    world.repository.commit('Bring pay back again', end);
    await world.applied();
    expect(await isKilled(world)).toBe(false);
  });

  it('still lets git take a kill back where what was changed by hand since shows', async () => {
    const world = await appliedWorld({ 'flags/pay.yaml': flagSpec('pay'), ...killList('{}') });
    world.repository.commit('Kill', KILL_PAY);
    await world.applied();
    await world.live.set('pay', { on: 50 });
    world.repository.commit('Bring pay back', killList('{}'));

    await world.applied();

    expect(await isKilled(world)).toBe(false);
  });
});

describe('the kill of a flag from outside the specs, which git takes back', () => {
  let world: PipelineWorld;

  beforeEach(async () => {
    world = await appliedWorld({ 'flags/pay.yaml': flagSpec('pay'), ...killList('{}') });
    const { repository, live } = world;
    const { id, production } = live;
    await live.ok('POST', `/splits/ws/${id}/trafficTypes/user`, {
      name: 'theirs',
      description: '',
    });
    await live.ok('POST', `/splits/ws/${id}/theirs/environments/${production}`, {
      treatments: ['on', 'off'].map((name) => ({ name, description: '' })),
      defaultTreatment: 'off',
      rules: [],
      defaultRule: [{ treatment: 'on', size: 100 }],
    });
    repository.commit('Kill theirs', killList('{ theirs: { reason: INC-1 } }'));
    await world.applied();
    repository.commit('Take it back', killList('{}'));
  });

  const isTheirsKilled = async (): Promise<boolean> =>
    (await world.live.definition('theirs')).killed;

  it.each([
    ['in another environment', { environment: ['staging'] }],
    ['over another object', { only: ['flag/pay'] }],
    ['that was suspended', { suspend: SUSPENDED_BY_CONFIG }],
  ] satisfies [string, RunSettings][])(
    'is restored by the next run where the first one of that commit was one %s, and never twice',
    async (_, settings) => {
      await world.applied(settings);
      expect(await isTheirsKilled()).toBe(true);

      world.repository.commit('Something else', { 'README.md': 'Flags' });
      await world.applied(settings);
      await world.applied();
      expect(await isTheirsKilled()).toBe(false);

      await world.live.set('theirs', { killed: true });
      await world.applied();
      expect(await isTheirsKilled()).toBe(true);
    },
  );

  it('leaves a later kill by hand alone, though another change waits in a freeze since before', async () => {
    const frozen = `${PIPELINE_CONFIG}freezes: { x: { from: 2000-01-01, to: 2100-01-01, zone: UTC } }\n`;
    world.repository.commit('Freeze', {
      'flagkeel.yaml': frozen,
      'flags/pay.yaml': flagSpec('pay', { on: 50 }),
    });
    await world.applied();
    expect(await isTheirsKilled()).toBe(false);
    await world.live.set('theirs', { killed: true });
    for (const text of ['Flags', 'More flags']) {
      await world.applied();
      world.repository.commit('Something else', { 'README.md': text });
    }
    expect(await isTheirsKilled()).toBe(true);
  });

  it('is restored by the next run where the service refused that', async () => {
    await world.live.permit({ areApprovalsRequired: true });
    await world.applied();
    await world.live.permit({ areApprovalsRequired: false });
    await world.applied();
    expect(await isTheirsKilled()).toBe(false);
  });

  it('is not restored any more once somebody restored it by hand meanwhile', async () => {
    await world.applied({ environment: ['staging'] });
    await world.live.set('theirs', { killed: false });
    await world.applied();
    await world.live.set('theirs', { killed: true });
    await world.applied();
    expect(await isTheirsKilled()).toBe(true);
  });
});

describe('reconcile --kills', () => {
  let world: PipelineWorld;

  beforeEach(async () => {
    world = await appliedWorld({
      'flags/pay.yaml': flagSpec('pay'),
      ...killList('{}'),
    });
  });

  const sent: PipelineWorld['command'] = async (...more) =>
    world.command('reconcile', '--kills', ...more);

  function taken(): string[] {
    const writes = world.writes().filter(({ status }) => status === 200);
    return writes.map(({ method, path }) => `${method} ${path.split('/').slice(7, 9).join('/')}`);
  }

  it('sends the kills that git orders, and no other change of the same commit', async () => {
    world.service.requests.length = 0;
    expect(await sent()).toMatchObject({ exitCode: 0 });
    expect(world.service.requests.filter(({ path }) => path.includes('/splits/'))).toEqual([]);
    world.repository.commit('Kill pay and ramp it', {
      'flags/pay.yaml': flagSpec('pay', { on: 90 }),
      ...KILL_PAY,
    });

    const first = await sent();
    expect(first, first.stderr).toMatchObject({ exitCode: 0 });
    expect(first.stdout).toBe('Kills: 1 sent. All kills that git orders are live.\n');
    expect(taken()).toEqual(['PATCH pay/environments']);

    const second = await sent('--format', 'json');
    expect(second).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(second.stdout)).toEqual({ formatVersion: 1, kills: [], converged: true });
    expect(taken()).toEqual([]);
  });

  it('calls only the kills live that it looked at', async () => {
    world.repository.commit('Kill pay', KILL_PAY);
    const { stdout } = await sent('--environment', 'staging');
    expect(stdout).toBe('Kills: 0 sent. All kills that git orders in this selection are live.\n');
    expect(taken()).toEqual([]);
  });

  it('sends a kill while another run holds the state, as a whole run does', async () => {
    world.repository.commit('Kill pay', KILL_PAY);
    const checkout = await checkoutOf(world.repository.directory);
    const place = { workspaceId: world.live.id, origin: world.service.origin, directory: '' };
    const unlock = await (await openStateHome({ checkout, ...place }))?.lock(0);

    const done = await sent();
    world.repository.commit(
      'Kill pay in staging',
      killList('{ pay: { reason: INC-1 } }', 'staging'),
    );
    const whole = await world.command('reconcile');
    unlock?.();

    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    expect(whole).toMatchObject({ exitCode: 7 });
    expect(taken()).toEqual(['PATCH pay/environments', 'PATCH pay/environments']);
  });

  it('ends with 5 where a kill failed, and names it, and with 3 where specs are invalid, whose kills it sends', async () => {
    world.repository.commit('Kill pay', KILL_PAY);
    world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);
    world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);

    const done = await sent();

    expect(done).toMatchObject({ exitCode: 5 });
    expect(done.stderr).toContain('flag/pay@production is not killed');
    expect(taken()).toEqual([]);

    // The rest, which cannot be read, may order more.
    const broken = { 'flags/cart.yaml': 'flag: cart\nnonsense: 1\n' };
    world.repository.commit('Break all else', broken);
    expect(await sent()).toMatchObject({ exitCode: 3 });
    expect(taken()).toEqual(['PATCH pay/environments']);
  });

  it('refuses options that are none of its own, and sends the kills before it refuses a filter', async () => {
    world.repository.commit('Kill pay', KILL_PAY);
    const wrong = [['--dry-run'], ['--plan-hash', 'sha256:0'], ['--environment', 'prodution']];
    for (const words of wrong) {
      expect(await sent(...words), words.join(' ')).toMatchObject({ exitCode: 64 });
      expect(taken()).toEqual([]);
    }
    for (const [option, sentKills] of [
      ['--only', 0],
      ['--exclude', 1],
    ] as const) {
      const run = await sent(option, 'flag/pya');

      expect(run).toMatchObject({ exitCode: 64, stdout: '' });
      expect(run.stderr).toContain(`cannot use ${option} "flag/pya"`);
      expect(run.stderr).toContain('did you mean "flag/pay"?');
      expect(taken()).toHaveLength(sentKills);
    }
  });
});
