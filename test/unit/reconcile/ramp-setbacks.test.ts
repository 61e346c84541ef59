import { describe, expect, it } from 'vitest';
import { remedyOf } from '../../../src/model/remedy.js';
import { planDocument } from '../../../src/report/json/plan.js';
import type { Reply } from '../../support/http.js';
import {
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { callsOf } from '../../support/service-calls.js';
import { checkedStory, laddersIn, type Clock } from '../../support/ramp-story.js';

const SHOP = 'flag/shop@production';
const SHOP_HELD = { id: SHOP, action: 'update', fields: [] } as const;
const STEPS = '10, 6h, 25, 12h, 50, 1d, 100';
const rampOf = (onFail: string): string =>
  `ramp: { steps: "${STEPS}", check: slo, onFail: ${onFail} }`;

interface Story {
  readonly world: PipelineWorld;
  readonly after: Clock;
  readonly config: string;
  /** What the check answers from now on. */
  answer: Reply;
  asked(): number;
}

const good: Reply = { status: 200, body: { left: 0.5 } };
const bad: Reply = { status: 200, body: { left: 0.1 } };

/** A ramp that is at 25 %; its next step is due after 18 hours. */
async function grownStory(onFail: string, config = PIPELINE_CONFIG, lines = ''): Promise<Story> {
  const story = { answer: good };
  const known = await checkedStory(rampOf(onFail) + lines, () => story.answer, { config });
  for (const hours of [0, 7]) await known.world.applied({}, known.after(hours));
  expect(await known.world.live.share('shop')).toBe(25);
  known.world.writes();
  const asked = (): number => known.server.seen.length;
  return Object.assign(story, known, { asked });
}

const isKilled = async ({ live }: PipelineWorld): Promise<boolean> =>
  (await live.definition('shop')).killed;

/** The writes since the last call: title and comment of each. */
function notesOf(world: PipelineWorld): string[] {
  return world.writes().map(({ query: { title = '', comment = '' } }) => `${title}\n${comment}`);
}

describe('a ramp that goes back where its check fails', () => {
  it('goes back by one step, in words of its own, stays there, and goes on once a commit changes it', async () => {
    const story = await grownStory('previous');
    const { world, after } = story;
    const at = new Date(after(19).now()).toISOString();
    story.answer = bad;

    const done = await world.applied({}, after(19));

    expect(await world.live.share('shop')).toBe(10);
    const failure = 'check "slo" failed: 0.1 is less than 0.2';
    expect(notesOf(world)).toEqual([
      `Ramp ${SHOP}: on back to 10 %: ${failure}\n` +
        `${failure} (${at}, before step 3 of 4, 50 %).\n` +
        'on goes back from 25 to 10 %, and the ramp takes no step until a commit changes it.',
    ]);
    expect(done.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'check-failed' });
    expect(done.plan.withheld.map(remedyOf)).toEqual([
      {
        because: `${failure} (${at}), so "on" goes back; the ramp goes on when a commit changes it`,
        ways: remedyOf({ ...SHOP_HELD, why: 'check-failed' }).ways,
      },
    ]);
    expect(laddersIn(world.reportOf(done))).toContain(
      `: 10 % done, 25 % due, 50 % due, 100 %. It waits: ${failure} (${at}), so "on" goes back`,
    );

    const asked = story.asked();
    story.answer = good;
    const later = await world.applied({}, after(400));
    expect(later.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'check-failed' });
    expect(await world.live.share('shop')).toBe(10);
    expect(story.asked()).toBe(asked);

    const production = rampOf('hold');
    const files = { 'flags/shop.yaml': flagSpec('shop', { on: 0, production }) };
    world.repository.commit('Decide', files);
    const shares = [];
    // The whole wait of the step begins anew.
    for (const hours of [410, 415, 416.1]) {
      await world.applied({}, after(hours));
      shares.push(await world.live.share('shop'));
    }
    expect(shares).toEqual([10, 10, 25]);
  });

  it('is only held before its first step, because it has brought nothing yet', async () => {
    const { world, after } = await checkedStory(rampOf('kill'), () => bad);
    for (const hours of [0, 1]) await world.applied({}, after(hours));

    expect(await isKilled(world)).toBe(false);
    expect(await world.live.share('shop')).toBe(0);
  });

  it('leaves a share that a person changed to the person', async () => {
    const story = await grownStory('previous');
    const { world, after } = story;
    story.answer = bad;
    await world.live.set('shop', { on: 17 });
    world.writes();

    const done = await world.applied({}, after(19));

    expect(await world.live.share('shop')).toBe(17);
    expect(world.writes()).toEqual([]);
    expect(done.verdict.objects.get(SHOP)?.is).toBe('held');
  });

  it('says in a dry run what a failure would do, and does nothing', async () => {
    const story = await grownStory('previous');
    const { world, after } = story;
    story.answer = bad;
    const asked = story.asked();

    const report = await world.reported({ at: after(19).now() });

    expect(laddersIn(report)).toMatch(
      / Not asked here, .*: check "slo" \(if it fails, on goes back to 10 %\)\.$/,
    );
    expect(planDocument(report).ramps?.[0]).toMatchObject({ onFail: 'previous', held: null });
    expect(story.asked()).toBe(asked);
    expect(world.writes()).toEqual([]);
  });

  it('waits for an approval where the service requires one, and goes back once it is given', async () => {
    const story = await grownStory(
      'previous',
      PIPELINE_CONFIG.replace('production: {}', 'production: { approvals: request }'),
    );
    const { world, after } = story;
    story.answer = bad;
    await world.live.permit({ areApprovalsRequired: true });

    const asked = await world.applied({}, after(19));
    const again = await world.applied({}, after(20));
    const before = await world.live.share('shop');
    const request = again.plan.withheld.find((each) => each.request)?.request?.id ?? '';
    const approver = callsOf({
      origin: world.service.origin,
      key: await world.service.createKey('approver'),
    });
    await approver.ok('PUT', `/changeRequests/${request}`, { status: 'APPROVED' });
    story.answer = good;
    const done = await world.applied({}, after(21));

    expect(asked.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'approval' });
    expect(before).toBe(25);
    expect(await world.live.share('shop')).toBe(10);
    expect(done.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'check-failed' });
  });
});

describe('a ramp that kills its flag where its check fails', () => {
  it('kills it once, in words of its own, against `killed: false` in its spec, and not again after a person brought it back', async () => {
    const config = `${PIPELINE_CONFIG}onLiveKill: revert\n`;
    const story = await grownStory('kill', config, ', killed: false');
    const { world, after } = story;
    const at = new Date(after(19).now()).toISOString();
    story.answer = bad;

    const done = await world.applied({}, after(19));

    expect(await isKilled(world)).toBe(true);
    const failure = 'check "slo" failed: 0.1 is less than 0.2';
    expect(notesOf(world)).toEqual([
      `Kill ${SHOP}: ${failure}\n` +
        `${failure} (${at}, before step 3 of 4, 50 %).\n` +
        'The flag is killed with on at 25 %, and the ramp takes no step until a commit changes it.',
    ]);
    expect(done.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([`${SHOP} ramp`]);
    expect(done.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'check-failed' });

    story.answer = good;
    await world.applied({}, after(48));
    expect(await isKilled(world)).toBe(true);
    await world.live.set('shop', { killed: false });
    world.writes();
    const back = await world.applied({}, after(72));

    expect(await isKilled(world)).toBe(false);
    expect(await world.live.share('shop')).toBe(25);
    expect(world.writes()).toEqual([]);
    expect(back.verdict.objects.get(SHOP)).toMatchObject({ is: 'held', why: 'check-failed' });
    const because = `${failure} (${at}), so the flag was killed; the ramp goes on when a commit changes it`;
    expect(back.plan.withheld.map(remedyOf)).toMatchObject([{ because }]);
  });

  it('is as git says once git orders the kill, and grows on after git takes that back', async () => {
    const story = await grownStory('kill');
    const { world, after } = story;
    story.answer = bad;
    await world.applied({}, after(19));
    story.answer = good;
    world.repository.commit('Say so', killList('{ shop: { reason: SLO } }'));
    const said = await world.applied({}, after(20));
    world.repository.commit('Back', killList('{}'));
    const shares = [];
    for (const hours of [21, 32, 33.1]) {
      await world.applied({}, after(hours));
      shares.push(await world.live.share('shop'));
    }

    expect(said.verdict.objects.get(SHOP)?.is).toBe('live');
    expect(await isKilled(world)).toBe(false);
    expect(shares).toEqual([25, 25, 50]);
  });

  it('is neither killed nor asked while the run is suspended', async () => {
    const story = await grownStory('kill');
    const { world, after } = story;
    story.answer = bad;
    world.repository.commit('Suspend', { 'flagkeel.yaml': `${story.config}suspend: true\n` });

    await world.applied({}, after(19));

    expect(await isKilled(world)).toBe(false);
    expect(world.writes()).toEqual([]);
  });
});
