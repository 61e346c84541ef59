import { beforeEach, describe, expect, it } from 'vitest';
import { plainText } from '../../../src/report/text/layout.js';
import { liveKillRow, sinceText } from '../../../src/report/view/sentences.js';
import {
  appliedWorld,
  flagSpec,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const FILE = 'flags/pay.yaml';
const ID = 'flag/pay@production';
const LIST = 'kills/production.yaml';
const SAYS_ALIVE = flagSpec('pay', { production: 'killed: false' });

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld({ [FILE]: flagSpec('pay'), [LIST]: 'kills: {}\n' });
});

const killByHand = async (killed = true): Promise<void> => world.live.set('pay', { killed });
const isKilled = async (): Promise<boolean> => (await world.live.definition('pay')).killed;
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

describe('a commit that takes a kill back', () => {
  it('does not undo a kill that a person made after `flagkeel restore` had prepared it', async () => {
    world.repository.commit('Kill pay', { [LIST]: 'kills:\n  pay: { reason: INC-1 }\n' });
    await world.applied();
    expect(await restored()).toBe(0);
    await killByHand();
    world.repository.commit('Restore pay', { [LIST]: 'kills: {}\n' });

    const { plan } = await world.applied();

    expect(await isKilled()).toBe(true);
    expect(plan.changes).toEqual([]);
    expect(plan.liveKills).toMatchObject([{ id: ID }]);
  });
});

describe('a kill that was ordered in git and taken back before any run', () => {
  it('is named with the commit that ordered it, and with the way out', async () => {
    await killByHand();
    const kill = world.repository.commit('Kill pay', {
      [LIST]: 'kills:\n  pay: { reason: INC-1 }\n',
    });
    world.repository.commit('Revert "Kill pay"', { [LIST]: 'kills: {}\n' });

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
});

describe('a kill that was sent by a run that a guard refused, and taken back before the next', () => {
  it('is not said to have gone unseen, because that run sent it', async () => {
    const kill = world.repository.commit('Kill pay, and open it', {
      'flagkeel.yaml': `${PIPELINE_CONFIG}guards: { maxShift: 5 }\n`,
      [FILE]: flagSpec('pay', { on: 90 }),
      [LIST]: 'kills:\n  pay: { reason: INC-1 }\n',
    });
    await world.reconciled();
    expect(await isKilled()).toBe(true);
    world.repository.commit('Take it back', { [LIST]: 'kills: {}\n' });

    const { plan } = await world.planned();

    expect(plan.liveKills.map(sinceText)).toEqual([
      `git ordered it in commit ${kill.slice(0, 7)} and took it back before a run came to its end`,
    ]);
  });
});

describe('a run over touched objects', () => {
  it.each(['state', 'memory'] as const)(
    'shows in its plan the kill that it sends, and that no commit touched (by the %s)',
    async (touchedSince) => {
      world.repository.commit('Kill pay', { [LIST]: 'kills:\n  pay: { reason: INC-1 }\n' });
      await world.applied();
      await killByHand(false);

      const planned = await world.planned({ touchedSince });
      const done = await world.applied({ touchedSince });

      expect(planned.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
        `${ID} kill`,
      ]);
      expect(done.plan.changes).toEqual(planned.plan.changes);
    },
  );
});
