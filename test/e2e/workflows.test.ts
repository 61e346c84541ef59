import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestForge, type TestForge } from '../support/forge.js';
import {
  githubJobs,
  gitlabJobs,
  jobFolder,
  type ForgeJobs,
  type JobSurroundings,
  type Merged,
} from '../support/forge-jobs.js';
import { testRepository } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (name: string, percent: number): string => flagText(name, percent, { staging: '' });

describe.each(['github', 'gitlab'] as const)('what init writes, run on %s', (kind) => {
  const scenario = useScenario();
  let folder: string;
  let forge: TestForge;
  let jobs: ForgeJobs;
  let merged: Merged[];
  let count: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-workflows-'));
    forge = await startTestForge(kind);
    jobs = kind === 'github' ? githubJobs(folder) : await gitlabJobs(folder);
    [merged, count] = [[], 0];
    const { repository } = scenario;
    const files = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/a.yaml': flag('a', 10) };
    scenario.commit({ ...files, 'flags/b.yaml': flag('b', 10) }, 'Add flags');
    repository.git(
      'init',
      '--quiet',
      '--bare',
      '--initial-branch=main',
      join(folder, 'origin.git'),
    );
    repository.git('remote', 'add', 'origin', join(folder, 'origin.git'));
    repository.git('push', '--quiet', 'origin', 'main');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  });

  afterEach(async () => {
    await jobs[Symbol.asyncDispose]();
    await forge.close();
    rmSync(folder, { recursive: true });
  });

  /** A job with a checkout of its own, of a commit of `main`. */
  function job(commit: string, env: Readonly<Record<string, string>> = {}): JobSurroundings {
    count += 1;
    const temporary = jobFolder(folder, `job-${String(count)}`);
    const checkout = join(temporary, 'checkout');
    const { directory } = scenario.repository;
    scenario.repository.git('clone', '--quiet', join(folder, 'origin.git'), checkout);
    const cloned = testRepository(checkout);
    cloned.git('fetch', '--quiet', directory, commit);
    cloned.git('checkout', '--quiet', '--detach', commit);
    return {
      ...{ checkout, temporary },
      env: {
        ...{ FLAGKEEL_URL: scenario.service.origin, FLAGKEEL_API_KEY: scenario.service.key },
        ...(kind === 'github' ? { token: forge.token } : { GITLAB_TOKEN: forge.token }),
        ...env,
      },
    };
  }

  /** A pull request that is reviewed and merged; its own apply does not run. */
  async function merge(
    name: string,
    percent: number,
    { isFork = false }: { readonly isFork?: boolean } = {},
  ): Promise<string> {
    const { repository } = scenario;
    const number = merged.length + 11;
    const base = repository.git('rev-parse', 'main');
    repository.git('checkout', '--quiet', '-b', `branch-${String(number)}`);
    const head = scenario.commit({ [`flags/${name}.yaml`]: flag(name, percent) }, `Ramp ${name}`);
    const { env, ...rest } = job(head);
    const { FLAGKEEL_API_KEY: key, ...keyless } = env;
    const given = {
      ...rest,
      env: { ...(isFork ? keyless : env), ...reviewed(base, head, isFork) },
    };
    expect(key).toBeDefined();
    const done = await jobs.review(head, given);
    expect(done, done.stderr).toMatchObject({ code: 0 });
    repository.git('checkout', '--quiet', 'main');
    const words =
      kind === 'github'
        ? `Merge pull request #${String(number)} from acme/branch`
        : `Merge branch\n\nSee merge request acme/flags!${String(number)}`;
    repository.git('merge', '--quiet', '--no-ff', '-m', words, `branch-${String(number)}`);
    repository.git('push', '--quiet', 'origin', 'main');
    const commit = repository.git('rev-parse', 'main');
    merged.push({ number, head, merge: commit, isFork });
    return commit;
  }

  function reviewed(base: string, head: string, isFork: boolean): Record<string, string> {
    if (kind === 'gitlab') {
      return {
        ...{ CI_API_V4_URL: forge.url, CI_COMMIT_SHA: head, CI_MERGE_REQUEST_IID: '7' },
        ...{ CI_MERGE_REQUEST_PROJECT_ID: '42', CI_MERGE_REQUEST_DIFF_BASE_SHA: base },
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: isFork ? '99' : '42',
      };
    }
    const event = join(folder, 'event.json');
    const from = { sha: head, repo: { id: isFork ? 2 : 1 } };
    const pull = { number: 7, head: from, base: { sha: base, repo: { id: 1 } } };
    writeFileSync(event, JSON.stringify({ pull_request: pull }));
    return { GITHUB_API_URL: forge.url, GITHUB_EVENT_PATH: event };
  }

  const apply = async (commit: string, env: Readonly<Record<string, string>> = {}) =>
    jobs.apply(commit, merged, job(commit, env));

  async function live(): Promise<readonly (number | undefined)[]> {
    const service = await liveWorkspace(scenario.service);
    const shares = ['a', 'b'].map(async (name) => {
      const path = `/splits/ws/${service.id}/${name}/environments/${service.staging}`;
      return (await service.ok<{ defaultRule: { size: number }[] }>('GET', path)).defaultRule[0]
        ?.size;
    });
    return Promise.all(shares);
  }

  /** A service that does not answer: its port is closed. */
  const away = { FLAGKEEL_URL: 'http://127.0.0.1:9' };

  it('brings out what was merged, whatever became of the jobs before', async () => {
    const told: [situation: string, code: number | null, ...shares: (number | undefined)[]][] = [];
    const tell = async (situation: string, { code }: { code: number | null }): Promise<void> => {
      told.push([situation, code, ...(await live())]);
    };

    await tell('merge', await apply(await merge('a', 20)));
    await merge('a', 30);
    await tell('the next merge after a dropped job', await apply(await merge('b', 30)));
    const failed = await merge('a', 40);
    await tell('the service is away', await apply(failed, away));
    await tell('the next merge after a failed job', await apply(await merge('b', 40)));
    scenario.service.requests.length = 0;
    await tell('the failed job again', await apply(failed));
    const rewritten = scenario.writes();
    await tell(
      'the nightly look',
      await jobs.drift(job(scenario.repository.git('rev-parse', 'main'))),
    );
    const fork = await merge('b', 50, { isFork: true });
    await tell('merge of a fork', await apply(fork));
    await tell('the nightly look after it', await jobs.drift(job(fork)));

    expect(told).toEqual([
      ['merge', 0, 20, 10],
      ['the next merge after a dropped job', 0, 30, 30],
      ['the service is away', 6, 30, 30],
      ['the next merge after a failed job', 0, 40, 40],
      ['the failed job again', 0, 40, 40],
      ['the nightly look', 0, 40, 40],
      ['merge of a fork', 8, 40, 40],
      ['the nightly look after it', 2, 40, 40],
    ]);
    expect(rewritten).toEqual([]);
  }, 180_000);
});
