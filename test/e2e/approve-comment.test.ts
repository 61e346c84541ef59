import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { githubJob, startTestForge, type TestForge } from '../support/forge.js';
import { makeDirectory } from '../support/git.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';
import { cliRun, type CliRun } from '../support/terminal.js';

const scenario = useScenario();
let forge: TestForge;
let folder: string;

beforeEach(async () => {
  forge = await startTestForge('github');
  onTestFinished(async () => forge.close());
  folder = makeDirectory();
  const config = `${PIPELINE_CONFIG}guards: { maxShift: 20 }\n`;
  scenario.commit({ 'flagkeel.yaml': config, 'flags/pay.yaml': flagSpec('pay') }, 'Add pay');
  await scenario.reconcile();
  scenario.commit({ 'flags/pay.yaml': flagSpec('pay', { on: 60 }) }, 'Ramp by far (#7)');
  scenario.service.requests.length = 0;
});

/** What a job does that a comment on the pull request has started. */
async function job(): Promise<CliRun> {
  const { service, repository, env } = scenario;
  const args = ['reconcile', '--since', 'HEAD^1', '--approve-comment', '--url', service.origin];
  return cliRun([...args, repository.directory], {
    ...env,
    ...githubJob(forge, folder, { issue: { number: 7, pull_request: {} } }),
  });
}

function comment(author: string, hash: string, times: Readonly<Record<string, string>> = {}): void {
  const body = `/flagkeel approve ${hash}`;
  forge.comments.push({ id: forge.comments.length, author, body, ...times });
}

it('applies the plan that a new comment of somebody who may merge approves, once, and says why others do not count', async () => {
  const { planHash } = await scenario.dryRun('--since', 'HEAD^1');
  forge.members.set('ana', 'write').set('reader', 'read');
  comment('reader', planHash);
  comment('ana', `sha256:${'0'.repeat(64)}`);
  comment('ana', planHash, { createdAt: '2026-10-01T08:00:00Z' });
  comment('ana', planHash, { updatedAt: '2026-10-01T12:00:00Z' });
  const refused = await job();
  expect(refused.exitCode).toBe(4);
  expect(refused.stdout).toContain(`--approve ${planHash}`);
  expect(refused.stderr).toContain(`warning: reader may not merge, and so not approve ${planHash}`);
  const fault = `warning: the approval of ${planHash} by ana does not count: it`;
  expect(refused.stderr).toContain(`${fault} is older than the last push (write a new comment)`);
  expect(refused.stderr).toContain(`${fault} was edited (write a new comment)`);
  expect(scenario.writes()).toEqual([]);

  comment('ana', planHash);
  expect(await job()).toMatchObject({ exitCode: 0 });
  const comments = scenario.service.requests
    .filter(({ method }) => method === 'PATCH')
    .map(({ query }) => query['comment'] ?? '');
  expect(comments.length).toBe(2);
  expect(comments.every((each) => each.includes(`approved as ${planHash} by ana`))).toBe(true);
  expect(forge.requests.filter((each) => !each.startsWith('GET '))).toEqual([]);

  scenario.commit({ 'flags/pay.yaml': flagSpec('pay') }, 'Take it back');
  const back = await scenario.dryRun();
  expect(await scenario.reconcile('--approve', back.planHash)).toMatchObject({ code: 0 });
  scenario.commit({ 'flags/pay.yaml': flagSpec('pay', { on: 60 }) }, 'Ramp by far once more');
  const again = await scenario.dryRun('--since', 'HEAD^1');
  expect(again.planHash).toBe(planHash);
  scenario.service.requests.length = 0;
  const used = await job();
  expect(used).toMatchObject({ exitCode: 4 });
  expect(used.stderr).toContain('it was used before (write a new comment)');
  expect(scenario.writes()).toEqual([]);
  comment('ana', planHash);
  expect(await job()).toMatchObject({ exitCode: 0 });
});

it('sends nothing where the comments cannot be read, nobody knows whose they are, or another machine could use them again', async () => {
  const { planHash } = await scenario.dryRun('--since', 'HEAD^1');
  forge.members.set('ana', 'write');
  comment('ana', planHash);
  const { repository } = scenario;
  const place = ['--forge', 'github', '--repository', 'acme/flags', '--pull-request', '7'];
  const outside = await scenario.reconcile('--approve-comment');
  const tokenless = await scenario.reconcile('--approve-comment', ...place);
  expect([outside.code, tokenless.code]).toEqual([64, 64]);
  expect(outside.stderr).toContain('set --forge, --repository and --pull-request');
  expect(tokenless.stderr).toContain('FLAGKEEL_FORGE_TOKEN');

  repository.git('remote', 'add', 'origin', join(folder, 'origin.git'));
  const unread = await job();
  expect(unread).toMatchObject({ exitCode: 4 });
  expect(unread.stderr).toContain('that it was not used before is not known, because');
  repository.git('init', '--quiet', '--bare', join(folder, 'origin.git'));
  const hook = join(folder, 'origin.git', 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const unshared = await job();
  expect(unshared).toMatchObject({ exitCode: 1 });
  expect(unshared.stderr).toContain('cannot use the approval of');

  repository.git('remote', 'remove', 'origin');
  forge.limited = 9;
  expect(await job()).toMatchObject({ exitCode: 1 });
  expect(scenario.writes()).toEqual([]);
});
