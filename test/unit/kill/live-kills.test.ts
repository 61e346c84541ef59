import { beforeEach, describe, expect, it } from 'vitest';
import type { Workspace } from '../../../src/admin-api/workspace.js';
import type { RunContext } from '../../../src/reconcile/context.js';
import { plainText } from '../../../src/report/text/layout.js';
import { planText } from '../../../src/report/text/plan.js';
import { liveKillRow, sinceText } from '../../../src/report/view/sentences.js';
import type { StateHome } from '../../../src/state/store.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const FILE = 'flags/pay.yaml';
const ID = 'flag/pay@production';
const KILL_PAY = killList('{ pay: { reason: INC-1 } }');
const SAYS_ALIVE = flagSpec('pay', { production: 'killed: false' });

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld({
    'flagkeel.yaml': `${PIPELINE_CONFIG}guards: { maxDeletePercent: 100 }\n`,
    [FILE]: flagSpec('pay'),
    'flags/other.yaml': flagSpec('other'),
    ...killList('{}'),
  });
});

const killByHand = async (killed = true): Promise<void> => world.live.set('pay', { killed });
const isKilled = async (): Promise<boolean> => (await world.live.definition('pay')).killed;
const revert = (): string => world.repository.git('revert', '--no-edit', 'HEAD');
const restored = async (): Promise<number> =>
  (await world.command('restore', '--environment', 'production', 'pay')).exitCode;

describe('the way out of a live kill', () => {
  it('works a second time by `killed: false` in a later commit', async () => {
    await killByHand();
    await world.applied();
    world.repository.commit('Bring pay back', { [FILE]: SAYS_ALIVE });
    await world.applied();
    expect(await isKilled()).toBe(false);

    await killByHand();
    await world.applied();
    expect(await isKilled()).toBe(true);
    world.repository.commit('Git has no opinion', { [FILE]: flagSpec('pay') });
    world.repository.commit('Bring pay back again', { [FILE]: SAYS_ALIVE });
    await world.applied();

    expect(await isKilled()).toBe(false);
  });

  it('works every time by `flagkeel restore`', async () => {
    for (const round of [1, 2]) {
      await killByHand();
      await world.applied();
      expect(await restored(), `round ${round}`).toBe(0);
      expect(await isKilled()).toBe(false);
      await world.applied();
    }
  });
});

it('a live kill stays and is told where the clone lacks the commit of the last apply', async () => {
  await killByHand();
  world.repository.commit('Ramp pay', { [FILE]: flagSpec('pay', { on: 20 }) });
  world.repository.shell(`
    git clone --quiet --bare --depth=1 "file://$PWD" .shallow
    git -C .shallow fetch --quiet origin '+refs/flagkeel/*:refs/flagkeel/*'
    rm -rf .git
    mv .shallow .git
    git remote remove origin
    git config core.bare false
    git reset --quiet`);

  const { plan } = await world.applied();

  expect(await world.live.definition('pay')).toMatchObject({ killed: true });
  expect(plan.changes.map(({ id }) => id)).toContain(ID);
  expect(plan.liveKills).toMatchObject([{ id: ID }]);
});

it('a commit that takes a kill back does not undo a kill that a person made after `flagkeel restore` had prepared it', async () => {
  world.repository.commit('Kill pay', KILL_PAY);
  await world.applied();
  expect(await restored()).toBe(0);
  await killByHand();
  world.repository.commit('Restore pay', killList('{}'));

  const { plan } = await world.applied();

  expect(await isKilled()).toBe(true);
  expect(plan.changes).toEqual([]);
  expect(plan.liveKills).toMatchObject([{ id: ID }]);
});

it('a kill that was ordered in git and taken back before any run is named with the commit that ordered it, and with the way out', async () => {
  await killByHand();
  const kill = world.repository.commit('Kill pay', KILL_PAY);
  world.repository.commit('Revert "Kill pay"', killList('{}'));

  const { plan } = await world.planned();

  expect(plan.liveKills).toMatchObject([{ id: ID, commit: null, orderedIn: kill }]);
  expect(plan.liveKills.map(sinceText)).toEqual([
    `git ordered it in commit ${kill.slice(0, 7)} and took it back before a run came to its end`,
  ]);
  const lines = plan.liveKills.flatMap((each) => liveKillRow(each).lines);
  expect(lines.map(plainText).join('\n')).toContain(
    '`flagkeel restore pay --environment production`',
  );
  await world.applied();
  world.repository.commit('Bring pay back', { [FILE]: SAYS_ALIVE });
  await world.applied();
  expect(await isKilled()).toBe(false);
});

it('a kill that was sent by a run that a guard refused, and taken back before the next, is not said to have gone unseen, because that run sent it', async () => {
  const kill = world.repository.commit('Kill pay, and open it', {
    'flagkeel.yaml': `${PIPELINE_CONFIG}guards: { maxShift: 5 }\n`,
    [FILE]: flagSpec('pay', { on: 90 }),
    ...KILL_PAY,
  });
  await world.reconciled();
  expect(await isKilled()).toBe(true);
  world.repository.commit('Take it back', killList('{}'));

  const { plan } = await world.planned();

  expect(plan.liveKills.map(sinceText)).toEqual([
    `git ordered it in commit ${kill.slice(0, 7)} and took it back before a run came to its end`,
  ]);
});

it.each(['state', 'memory'] as const)(
  'a run over touched objects shows in its plan the kill that it sends, and that no commit touched (by the %s)',
  async (touchedSince) => {
    world.repository.commit('Kill pay', KILL_PAY);
    await world.applied();
    await killByHand(false);

    const planned = await world.planned({ touchedSince });
    const done = await world.applied({ touchedSince });

    expect(planned.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([`${ID} kill`]);
    expect(done.plan.changes).toEqual(planned.plan.changes);
  },
);

/** Removes the flag from git, and from the service. */
async function pruned(): Promise<void> {
  world.repository.commit('Remove pay', { [FILE]: null });
  await world.applied({ prune: true });
  await expect(world.live.definition('pay')).rejects.toThrow('404');
}

describe('a flag that was killed by hand, pruned, and brought back by `git revert`', () => {
  it.each([
    ['that a run saw', true],
    ['that only the deleting run saw', false],
  ])('comes back killed after a kill %s, and the plan says so', async (_, isSeen) => {
    await killByHand();
    if (isSeen) await world.applied();
    await pruned();
    revert();

    const { plan } = await world.planned();
    const [kill] = plan.liveKills;
    if (!kill) throw new Error('the plan does not tell of the kill');
    expect(kill).toMatchObject({ id: ID, comesBack: true });
    expect(kill.seen).not.toBeNull();
    expect(plainText([liveKillRow(kill).deed])).toBe(
      'it was killed when it went from the service, and comes back killed',
    );
    const done = await world.applied();

    expect(done.converged).toBe(true);
    expect(await isKilled()).toBe(true);
    const report = planText(world.reportOf(done), { color: false, width: 200, showKeys: false });
    expect(report).toContain('seen since');
    expect(report).not.toMatch(/comes back|there again/);
    const again = await world.planned();
    expect(again.plan.changes).toEqual([]);
    const [standing] = again.plan.liveKills;
    expect(standing).toMatchObject({ id: ID, seen: kill.seen });
    expect(standing).not.toHaveProperty('comesBack');
  });

  it('comes back killed where the run that alone saw the kill ended right after the deletion', async () => {
    await killByHand();
    world.repository.commit('Remove pay', { [FILE]: null });
    const openState = async (context: RunContext, place: Workspace): Promise<StateHome | null> => {
      const home = await context.openState(place);
      const write = home?.write.bind(home);
      if (!home || !write) return null;
      return Object.assign(home, {
        write: async (...what: Parameters<StateHome['write']>): Promise<void> => {
          if (what[1].message.startsWith('Apply')) throw new Error('the process is killed');
          return write(...what);
        },
      });
    };
    const killed = world.applied({ prune: true }, {}, (context) => ({
      openState: async (place) => openState(context, place),
    }));
    await expect(killed).rejects.toThrow('the process is killed');
    await expect(world.live.definition('pay')).rejects.toThrow('404');
    await world.applied();
    revert();

    expect((await world.applied()).plan.liveKills).toMatchObject([{ id: ID }]);
    expect(await isKilled()).toBe(true);
  });

  it('comes back killed where the run that pruned it planned another flag again, which somebody changed meanwhile', async () => {
    await killByHand();
    const both = (on: number) => ({
      'flags/other.yaml': flagSpec('other', { on }),
      'flags/third.yaml': flagSpec('third', { on }),
    });
    world.repository.commit('Add a third', both(10));
    await world.applied({ only: ['flag/third'] });
    world.repository.commit('Ramp both, and remove pay', { ...both(20), [FILE]: null });
    world.service.failNext({ method: 'PATCH', path: /other/ }, 'hold');
    let clock = Date.now();
    const now = (): number => (clock += 60_000);
    const running = world.applied({ prune: true, concurrency: 1 }, { now });
    await world.service.held();
    await world.live.set('third', { trafficAllocation: 55 });
    world.service.release();
    expect(await running).toMatchObject({ converged: true });
    await expect(world.live.definition('pay')).rejects.toThrow('404');
    world.repository.commit('Bring pay back', { [FILE]: flagSpec('pay') });

    expect((await world.applied()).plan.liveKills).toMatchObject([{ id: ID }]);
    expect(await isKilled()).toBe(true);
  });

  it('is no drift before a run has brought it back, so that an adoption has nothing to write', async () => {
    await killByHand();
    await pruned();
    revert();

    const adopted = await world.command('drift', '--adopt');

    expect(adopted.exitCode).toBe(2);
    expect(adopted.stdout).toContain('No drift');
  });

  it('is brought back alive by `flagkeel restore`, and stays alive when it is pruned and created again', async () => {
    await killByHand();
    await pruned();
    revert();
    await world.applied();

    await restored();
    await world.applied();
    expect(await isKilled()).toBe(false);
    await pruned();
    revert();
    await world.applied();

    expect(await isKilled()).toBe(false);
  });
});

describe('a flag that was killed by hand, and then', () => {
  beforeEach(async () => {
    world.repository.commit('Say that pay is alive', { [FILE]: SAYS_ALIVE });
    await world.applied();
    await killByHand();
    await world.applied();
  });

  it('was deleted on the service by hand, is created killed', async () => {
    await world.live.ok('DELETE', world.live.at('pay'));
    expect((await world.applied()).plan.withheld).toMatchObject([{ id: ID }]);

    const { plan } = await world.applied({ revertDrift: true });

    expect(plan.changes).toMatchObject([{ id: ID, action: 'create' }]);
    expect(plan.liveKills).toMatchObject([{ id: ID }]);
    expect(await isKilled()).toBe(true);
  });
});
