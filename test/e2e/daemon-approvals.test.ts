import { beforeEach, expect, it } from 'vitest';
import { cliRun } from '../support/terminal.js';
import { watchHere, type InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { startTestOperations } from '../support/operations.js';
import { useScenario } from '../support/scenario.js';

const SHIFT = `${PIPELINE_CONFIG}guards: { maxShift: 20 }\n`;
const FROZEN = `${PIPELINE_CONFIG}freezes:
  sale: { from: 2026-01-01, to: 2099-12-31, zone: UTC, environments: [production] }
`;
const BY_FAR = { 'flags/pay.yaml': flagSpec('pay', { on: 60 }) };

const scenario = useScenario();
let live: LiveWorkspace;
let watched: InProcessDaemon;

beforeEach(async () => {
  live = await liveWorkspace(scenario.service);
  const files = { 'flagkeel.yaml': PIPELINE_CONFIG, 'flags/pay.yaml': flagSpec('pay') };
  scenario.commit(files, 'Add pay');
  watched = await watchHere(scenario);
});

/** Approves as `POST /approve` does. */
function order(hash: string): void {
  const until = new Date(Date.now() + 60_000).toISOString();
  const approval = { hash, by: 'ana', reason: 'reviewed', until };
  watched.daemon.override('default', { approval });
}

/** The same, and waits for what this brings. */
async function approve(hash: string): Promise<void> {
  const before = watched.runs.length;
  order(hash);
  await watched.rest(before + 1);
}

const shares = async (): Promise<number[]> =>
  Promise.all([live.share('pay', 'staging'), live.share('pay')]);

it('lets the approved plan pass and no other, and says in service, history and log by whom and whose token', async () => {
  const farther = { 'flags/pay.yaml': flagSpec('pay', { on: 90 }) };
  scenario.commit({ 'flagkeel.yaml': SHIFT, ...BY_FAR }, 'Ramp by far');
  const refused = await watched.run();
  const hash = refused.plan?.heldHash ?? '';
  expect([refused.result, hash, await shares()]).toEqual([
    'refused',
    refused.plan?.planHash,
    [10, 10],
  ]);

  scenario.commit(farther, 'Ramp farther');
  await approve(hash);
  const other = watched.runs.at(-1);
  expect([other?.result, await shares(), watched.view.approved]).toEqual([
    'refused',
    [10, 10],
    null,
  ]);
  expect(other?.plan?.heldHash).not.toBe(hash);
  expect(watched.log.join('')).toContain('approval is void');
  // What was approved is not remembered for the day on which the plan is that one again.
  scenario.commit(BY_FAR, 'Back to what was approved');
  const again = await watched.run();
  expect([again.result, again.plan?.heldHash, await shares()]).toEqual(['refused', hash, [10, 10]]);

  const tokens = ['a-token-of-the-release release approve'];
  await using operations = await startTestOperations(watched.daemon, { tokens, now: Date.now });
  const before = watched.runs.length;
  const answer = await fetch(`${operations.url}/approve`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer a-token-of-the-release',
    },
    body: JSON.stringify({ hash, by: 'ana', reason: 'reviewed' }),
  });
  expect(answer.status).toBe(202);
  await watched.rest(before + 1);

  expect([await shares(), watched.view.approved]).toEqual([[60, 60], null]);
  const who = `approved as ${hash} by ana, with the token "release"`;
  const comment = `Sent although a guard refused it (maxShift of flag/pay@staging, 50 over 20; maxShift of flag/pay@production, 50 over 20): ${who}`;
  const sent = scenario.service.requests.filter(({ method }) => method === 'PATCH');
  expect(sent.map(({ query }) => query['comment']?.split('\n')[0])).toEqual([comment, comment]);
  const history = ['history', 'flag/pay', '--format', 'json', scenario.repository.directory];
  expect((await cliRun(history)).stdout).toContain(JSON.stringify(who).slice(1, -1));
  const log = watched.log.join('');
  expect(log).toContain('approved plan was let pass');
  expect(log).toContain('"token":"release"');
});

it('writes at once what a freeze holds, once what is left of the plan is approved', async () => {
  scenario.commit({ 'flagkeel.yaml': FROZEN, ...BY_FAR }, 'Ramp by far');
  const { plan: first } = await watched.run();
  expect([await shares(), first?.planHash === first?.heldHash]).toEqual([[60, 10], false]);

  // Staging has its part by now, so that the whole is another plan than what waits.
  await approve(first?.planHash ?? '');
  expect(await shares()).toEqual([60, 10]);
  await approve(first?.heldHash ?? '');

  expect(await shares()).toEqual([60, 60]);
  const [comment] = scenario.service.requests
    .filter(({ method }) => method === 'PATCH')
    .flatMap(({ query }) => query['comment'] ?? [])
    .slice(-1);
  expect(comment).toContain(`frozen by "sale": approved as ${first?.heldHash ?? ''} by ana`);
});

it('keeps an approval while the service is away, for the run that finds it again', async () => {
  scenario.commit({ 'flagkeel.yaml': SHIFT, ...BY_FAR }, 'Ramp by far');
  const hash = (await watched.run()).plan?.heldHash ?? '';
  scenario.service.failNext({ path: /workspaces/ }, 404);
  const before = watched.runs.length;
  order(hash);
  await watched.until(() => watched.runs.length > before, 'a run that fails');
  expect([watched.runs.at(-1)?.result, watched.view.approved?.hash]).toEqual(['failed', hash]);

  await watched.rest(before + 2);

  expect(await shares()).toEqual([60, 60]);
});

it('keeps an approval while it is suspended, for the run that may write again', async () => {
  scenario.commit({ 'flagkeel.yaml': SHIFT, ...BY_FAR }, 'Ramp by far');
  const hash = (await watched.run()).plan?.heldHash ?? '';
  const until = new Date(Date.now() + 60_000).toISOString();
  watched.daemon.override('default', { suspension: { reason: 'INC-1', until } });
  await approve(hash);
  expect([watched.runs.at(-1)?.result, watched.view.approved?.hash]).toEqual(['suspended', hash]);
  expect(watched.log.join('')).not.toContain('approved plan was let pass');

  const before = watched.runs.length;
  watched.daemon.override('default', { suspension: null });
  await watched.rest(before + 1);

  expect([await shares(), watched.view.approved]).toEqual([[60, 60], null]);
});
