import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { flagkeel, type CliOptions, type CliResult } from '../support/cli.js';
import { makeDirectory, makeRepository } from '../support/git.js';
import { githubJob, startTestForge, type TestForge } from '../support/forge.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

const CONTEXTS = ['flagkeel', 'flagkeel/production', 'flagkeel/staging'];

describe.each(['github', 'gitlab'] as const)('a review on %s', (kind) => {
  const scenario = useScenario();
  let forge: TestForge;
  let folder: string;
  let base: string;

  beforeEach(async () => {
    folder = makeDirectory();
    forge = await startTestForge(kind);
    onTestFinished(async () => forge.close());
    const both = {
      'flags/alpha.yaml': flagText('alpha', 10),
      'flags/beta.yaml': flagText('beta', 10),
    };
    base = scenario.commit({ 'flagkeel.yaml': UNPROTECTED_CONFIG, ...both }, 'Add two flags');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
    ramp(25);
    scenario.service.requests.length = 0;
  });

  function ramp(percent: number | string): void {
    scenario.commit(
      { 'flags/alpha.yaml': flagText('alpha', percent) },
      `Ramp alpha to ${String(percent)} % @octocat ::error::x`,
    );
  }

  function head(): string {
    return scenario.repository.git('rev-parse', 'HEAD');
  }

  /** What the forge's runner says to a job. */
  function jobEnvironment(isFork: boolean): Record<string, string> {
    if (kind === 'gitlab') {
      return {
        GITLAB_CI: 'true',
        CI_API_V4_URL: forge.url,
        CI_PROJECT_ID: isFork ? '43' : '42',
        CI_MERGE_REQUEST_IID: '7',
        CI_MERGE_REQUEST_PROJECT_ID: '42',
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: isFork ? '43' : '42',
        CI_COMMIT_SHA: head(),
        CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        CI_JOB_URL: 'https://gitlab.example/job/1',
        GITLAB_TOKEN: forge.token,
      };
    }
    const pull = {
      number: 7,
      head: { sha: head(), repo: { id: isFork ? 2 : 1 } },
      base: { sha: base, repo: { id: 1 } },
    };
    const job = githubJob(forge, folder, { pull_request: pull });
    return { ...job, GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  }

  async function review(
    args: readonly string[] = [],
    { isFork = false, env = {}, ...options }: CliOptions & { readonly isFork?: boolean } = {},
  ): Promise<CliResult> {
    const key = { FLAGKEEL_URL: scenario.service.origin, FLAGKEEL_API_KEY: scenario.service.key };
    return flagkeel(['review', ...args, scenario.repository.directory], {
      ...options,
      env: { ...jobEnvironment(isFork), ...(isFork ? {} : key), ...env },
    });
  }

  function lastStatuses(): string[] {
    return CONTEXTS.map((context) => {
      const last = forge.statuses.findLast((each) => each.context === context);
      return `${context} ${last?.state ?? 'none'}: ${last?.description ?? ''}`;
    });
  }

  function expectClosed(states = /pending|running|success/): void {
    expect(lastStatuses().filter((each) => states.test(each))).toEqual([]);
  }

  function commentWrites(): string[] {
    return forge.requests.filter((each) => /^(POST|PATCH|PUT) .*(comments|notes)/.test(each));
  }

  it('posts one comment, and edits it when it would say something else', async () => {
    const first = await review();

    expect(first, first.stderr).toMatchObject({ code: 0 });
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain(
      'updates 2 in <code>production</code>, <code>staging</code>',
    );
    expect(forge.comments[0]?.body).not.toMatch(/@octocat(?![^`]*```)|^\s*::/m);
    expect(lastStatuses()).toEqual([
      `flagkeel success: 0 to create, 2 to update, 0 to delete`,
      `flagkeel/production success: 0 to create, 1 to update, 0 to delete`,
      `flagkeel/staging success: 0 to create, 1 to update, 0 to delete`,
    ]);

    ramp(50);
    expect(await review()).toMatchObject({ code: 0 });
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain('10 → 50 %');
    expect(commentWrites()).toHaveLength(2);

    scenario.commit({ 'README.md': 'more' }, 'Say more');
    expect((await review()).stderr).toContain('comment edited');
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain(`commit <code>${head().slice(0, 7)}</code>`);
    expect(scenario.writes()).toEqual([]);
  });

  it('leaves the comment of a newer commit alone where the job of an older one runs again', async () => {
    const older = head();
    ramp(50);
    expect(await review()).toMatchObject({ code: 0 });
    forge.pull.head = head();
    scenario.repository.git('checkout', '--quiet', '--detach', older);

    const again = await review();

    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect(again.stderr).toContain('comment left alone, because there is a newer commit');
    expect(again.stdout).toContain('10 → 25 %');
    expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 50 %')]);
    expect(forge.statuses.at(-1)).toMatchObject({ sha: older, state: 'success' });
  });

  it('replaces the comment of an older commit, though the newest commit of the branch has no review', async () => {
    expect(await review()).toMatchObject({ code: 0 });
    ramp(50);
    forge.pull.head = 'f'.repeat(40);

    expect((await review()).stderr).toContain('comment edited');
    expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 50 %')]);
  });

  it('closes its statuses, and says what is wrong, when the specs are invalid', async () => {
    ramp('many');
    const [sarif, junit] = [join(folder, 'x.sarif'), join(folder, 'x.xml')];

    const run = await review(['--sarif', sarif, '--junit', junit]);

    expect(run.code).toBe(3);
    expect(forge.comments[0]?.body).toContain('The specs are invalid');
    const failed = kind === 'github' ? ' failure:' : ' failed:';
    expect(lastStatuses().filter((each) => !each.includes(failed))).toEqual([]);
    const found = JSON.parse(readFileSync(sarif, 'utf8')) as { runs: { results: object[] }[] };
    expect(found.runs[0]?.results[0]).toMatchObject({
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'flags/alpha.yaml' } } }],
    });
    expect(readFileSync(junit, 'utf8')).toContain('<failure ');
  });

  it('closes its statuses, and fails, when the comment is refused', async () => {
    forge.refused = 'comments';

    const run = await review();

    expect(run.code).toBe(1);
    expect(run.stderr).toContain('cannot tell');
    expectClosed(/pending|running/);
  });

  it('writes its comment, and fails, when its statuses are refused', async () => {
    forge.refused = 'statuses';
    forge.pull.head = head();

    const run = await review();

    expect(run.code).toBe(1);
    expect(run.stderr).toContain('status 403');
    expect(run.stdout).toContain('10 → 25 %');
    expect(forge.comments[0]?.body).toContain('10 → 25 %');
  });

  it('reports offline for a fork, whose token may write nothing', async () => {
    forge.isReadOnly = true;

    // Also where the command line says what the CI job would.
    const run = await review(['--since', 'main'], { isFork: true });

    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(run.stdout).toContain('updates 2 in <code>production</code>, <code>staging</code>');
    expect(run.stdout).toContain('Made offline');
    expect(run.stdout).toContain('15 % off → on');
    expect(forge.comments).toEqual([]);
    expect(scenario.service.requests).toEqual([]);
    expect(scenario.repository.git('for-each-ref', 'refs/flagkeel')).toContain('refs/flagkeel');
  });

  it('plans the merge where the job runs on one, and not what others merged meanwhile', async () => {
    scenario.repository.git('checkout', '--quiet', 'main');
    const files = { 'flags/beta.yaml': flagText('beta', 90) };
    const target = scenario.commit(files, 'Ramp beta meanwhile');
    scenario.repository.git('checkout', '--quiet', '--detach');
    scenario.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'ramp');
    const merge: Record<string, string> =
      kind === 'github'
        ? { GITHUB_REF: 'refs/pull/7/merge', GITHUB_SHA: head() }
        : { CI_MERGE_REQUEST_TARGET_BRANCH_SHA: target };

    const run = await review([], { env: merge });

    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(run.stdout).toContain('updates 2 in');
    expect(run.stdout).toContain('Already different before this pull request: 2 changes');
  });

  if (kind === 'gitlab') {
    it('comments on the merge request, and not in the fork, whose pipeline has a token of its own', async () => {
      const run = await review([], { isFork: true });

      expect(run, run.stderr).toMatchObject({ code: 0 });
      expect(run.stderr).not.toContain('warning');
      expect(commentWrites()).toEqual(['POST /api/v4/projects/42/merge_requests/7/notes 201']);
      // The project of the merge request knows no branch with the commit.
      const statuses = forge.requests.filter((each) => each.includes('/statuses/'));
      expect(new Set(statuses)).toEqual(
        new Set([`POST /api/v4/projects/43/statuses/${head()} 201`]),
      );
    });

    it('plans every commit of a fast-forward merge train, whose job runs on no merge', async () => {
      ramp(50);
      const source = head();
      scenario.commit({ 'flags/beta.yaml': flagText('beta', 90) }, 'Ramp beta in the train too');
      const train = { CI_MERGE_REQUEST_TARGET_BRANCH_SHA: base };

      const run = await review([], {
        env: { ...train, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: source },
      });

      expect(run, run.stderr).toMatchObject({ code: 0 });
      expect(run.stdout).toContain('updates 4 in');
    });

    // What follows asks a forge for nothing that is not tried above on both.
    return;
  }

  it('closes its statuses when the service cannot be read', async () => {
    const run = await review([], { env: { FLAGKEEL_API_KEY: 'fka_wrong' } });

    expect(run.code).toBe(6);
    expectClosed();
    expect(forge.comments[0]?.body).toContain('No plan');
    expect(JSON.stringify([forge.comments, run])).not.toContain('fka_wrong');
  });

  it('needs the key where nothing says that it is a fork, and sends it nowhere that the pull request names', async () => {
    const keyless = await review([], { env: { FLAGKEEL_API_KEY: '' } });
    expect(keyless.code).toBe(6);
    expect(keyless.stderr).toContain('no Admin API key');

    const config = `${UNPROTECTED_CONFIG}service: { url: "https://evil.example" }\n`;
    scenario.commit({ 'flagkeel.yaml': config }, 'Point elsewhere');
    const run = await review([], { env: { FLAGKEEL_URL: '' } });

    expect(run.code).toBe(6);
    expect(run.stderr).toContain('https://evil.example');
    expect(scenario.service.requests).toEqual([]);
  });
});

it('a review on github writes the summary of the job and notes on the lines', async () => {
  const repository = makeRepository();
  const forge = await startTestForge('github');
  onTestFinished(async () => forge.close());
  const base = repository.commit('Begin', { 'conf/flagkeel.yaml': UNPROTECTED_CONFIG });
  const names = Array.from({ length: 30 }, (_, index) => `f-${String(index)}`);
  const files = names.map((name) => [`conf/flags/${name}.yaml`, flagText(name, 100)]);
  const all = Object.fromEntries(files) as Record<string, string>;
  const commit = repository.commit('Add thirty flags', all);
  const summary = join(repository.directory, '.git', 'summary.md');
  const job = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
  const args = ['review', '--offline', '--forge', 'github', '--forge-url', forge.url];
  const which = ['--repository', 'acme/flags', '--pull-request', '7', '--commit', commit];
  const place = ['--since', base, join(repository.directory, 'conf')];

  const run = await flagkeel([...args, ...which, ...place], {
    env: { ...job, FLAGKEEL_FORGE_TOKEN: forge.token },
  });

  expect(run, run.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(summary, 'utf8')).toContain('Merging this creates 90');
  expect(forge.annotations).toHaveLength(90);
  expect(forge.annotations[0]?.path).toMatch(/^conf\/flags\/f-\d+\.yaml$/);
  expect(forge.requests.filter((each) => each.includes('check-runs'))).toHaveLength(2);
  expect(forge.statuses.at(-1)).toMatchObject({
    context: 'flagkeel/staging (conf)',
    state: 'success',
    description: '30 to create, 0 to update, 0 to delete; made offline, the service was not asked',
  });
});
