import process from 'node:process';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Merged } from '../support/forge-jobs.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { workflowWorld, type Played, type WorkflowWorld } from '../support/workflow-world.js';
import { projectText, sectionOf } from '../unit/docs/page.js';

const CONFIG = `${STAGING_CONFIG}guards: { maxShift: 60 }\n`;
const share = (name: string, percent: number): Readonly<Record<string, string>> => ({
  [`flags/${name}.yaml`]: flagText(name, percent, { staging: '' }),
});
const NO_KILLS = { 'kills/staging.yaml': 'kills: {}\n' };
const KILL = { 'kills/staging.yaml': 'kills:\n  b: { reason: INC-1, by: ana }\n' };
/** A service that does not answer: its port is closed. */
const AWAY = { FLAGKEEL_URL: 'http://127.0.0.1:9' };

type Row = readonly [situation: string, jobs: string, live: string];

/** The table of docs/review.md is what these tests expect. */
const DOCUMENTED = sectionOf(projectText('docs/review.md'), '### What the jobs do')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (-|situation )/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll(/\s+/g, ' ')))
  .map(([, situation = '', github = '', gitlab = '', live = '']) => ({
    ...{ situation, github, gitlab, live },
  }));

/** Rows that were played, by situation and forge, with requests and seconds; `npm run test:workflows` prints them. */
const played = new Map<string, Map<string, string>>();
/** What the same write takes by itself: one request. */
const floorMs: number[] = [];

describe.each(['github', 'gitlab'] as const)('what init writes, run on %s', (kind) => {
  const scenario = useScenario();
  let world: WorkflowWorld;

  beforeEach(async () => {
    const files = { ...share('a', 10), ...share('b', 10), ...NO_KILLS };
    scenario.commit({ 'flagkeel.yaml': CONFIG, ...files }, 'Add flags');
    world = await workflowWorld(kind, scenario);
    world.forge.members.set('ana', kind === 'github' ? 'write' : 40);
    world.forge.members.set('stranger', kind === 'github' ? 'read' : 20);
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  /** A pull request that is reviewed and merged; its own apply does not run. */
  async function merged(...args: Parameters<WorkflowWorld['open']>) {
    const done = await world.open(...args);
    expect(done.codes, textOf(done)).toBe('review 0');
    return world.merge();
  }

  it('brings out everything that was merged and may go, whatever becomes of single jobs', async () => {
    const rows: Row[] = [];
    const tell = async (situation: string, done: Played | null): Promise<void> => {
      const live = await world.live(['a', 'b']);
      rows.push([situation, done?.codes === '' ? 'none' : (done?.codes ?? 'none'), live]);
      const { requests = 0, requestsToLive = null, secondsToLive = null } = done ?? {};
      const first =
        requestsToLive === null
          ? ''
          : `; live after ${String(requestsToLive)} requests, ${(secondsToLive ?? 0).toFixed(1)} s`;
      const cells = played.get(situation) ?? new Map<string, string>();
      cells.set(kind, `${done?.codes ?? 'none'} (${String(requests)} requests${first})`);
      played.set(situation, cells.set('live', live));
    };
    const expected = DOCUMENTED.map((row) => [row.situation, row[kind], row.live]);

    await tell('pull request, `a` 20', await world.open(share('a', 20)));
    await tell('push of a broken file to it', await world.push({ 'flags/a.yaml': 'flag: [' }));
    await tell('push that mends it, `a` 25', await world.push(share('a', 25)));
    expect(world.forge.comments).toHaveLength(1);
    const first = world.merge();
    await tell('merge', await world.land(first));
    expect(statusesOf(first)).toEqual({
      'flagkeel-apply': 'success',
      'flagkeel-apply/staging': 'success',
    });
    await merged(share('a', 30));
    await tell('merge of `a` 30, the job is dropped', null);
    const failed = await merged(share('b', 30));
    await tell('merge of `b` 30, the service is away', await world.land(failed, AWAY));
    await tell('that job again', await world.land(failed));
    const dropped = await merged(share('a', 35));
    await tell(
      'merge of `b` 40, behind a dropped job of `a` 35',
      await world.land(await merged(share('b', 40))),
    );
    await tell('that dropped job, late', await world.land(dropped));
    expect(scenario.writes()).toEqual([]);

    await tell('pull request that a guard refuses, `a` 99', await world.open(share('a', 99)));
    expect(world.offeredHash()).toMatch(/^sha256:/);
    const approved = `/flagkeel approve ${world.offeredHash()}`;
    const refused = world.merge();
    await tell('merge of it', await world.land(refused));
    await tell(
      'comment of a stranger approves it',
      await world.comment(refused, 'stranger', approved),
    );
    await tell(
      'comment of a maintainer approves it',
      await world.comment(refused, 'ana', approved),
    );

    await tell('push of a kill of `b`', await world.pushToMain(KILL));
    await tell('merge that takes the kill back', await world.land(await merged(NO_KILLS)));
    await tell('the nightly look', await world.night());
    expect(world.jobs.opened).toEqual([]);
    await byHand('b', 5);
    await tell('the nightly look, `b` was set to 5 by hand', await world.night());
    expect(world.jobs.opened).toEqual(['flagkeel/drift: Drift: take over the live values']);
    await byHand('b', 40);

    await tell('pull request of a fork, `b` 50', await world.open(share('b', 50), 'fork'));
    const fork = world.merge();
    await tell('merge of it, `b` 50', await world.land(fork));
    expect(statusesOf(fork)).toEqual({
      'flagkeel-apply': kind === 'github' ? 'failure' : 'failed',
      'flagkeel-apply/staging': kind === 'github' ? 'failure' : 'failed',
    });
    await tell('the nightly look, with a merge that is held', await world.night());
    await tell('pull request of a deleted fork', await world.open(share('b', 60), 'deleted-fork'));

    expect(rows).toEqual(expected);
  }, 600_000);

  function statusesOf({ merge }: Merged): Readonly<Record<string, string>> {
    const own = world.forge.statuses.filter(({ sha }) => sha === merge);
    return Object.fromEntries(own.map(({ context, state }) => [context, state]));
  }

  async function byHand(name: string, on: number): Promise<void> {
    const live = await liveWorkspace(scenario.service);
    const begin = performance.now();
    await live.set(name, { on }, 'staging');
    floorMs.push(performance.now() - begin);
  }
});

function textOf({ results }: Played): string {
  return [...results.values()].map(({ stdout, stderr }) => stdout + stderr).join('\n');
}

afterAll(() => {
  if (process.env['WORKFLOWS_TABLE'] !== '1') return;
  const lines = [...played].map(
    ([situation, cells]) =>
      `| ${situation} | ${['github', 'gitlab', 'live'].map((name) => cells.get(name) ?? '').join(' | ')} |`,
  );
  const floor = `floor: 1 request, ${(Math.min(...floorMs) / 1_000).toFixed(3)} s`;
  process.stdout.write(`${lines.join('\n')}\n${floor}\n`);
});
