import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { start } from '../support/cli.js';
import { withTools } from '../support/forge-jobs.js';
import { HttpGitServer } from '../support/git-server.js';
import { makeDirectory, TestRepository } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { projectText } from '../unit/docs/page.js';

const scenario = useScenario();
let folder: string;
let server: HttpGitServer;

beforeEach(async () => {
  folder = makeDirectory();
  server = await HttpGitServer.start();
  onTestFinished(async () => server.stop());
  const { repository } = scenario;
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/a.yaml': flag(10) }, 'Add a flag');
  repository.git('remote', 'add', 'origin', server.repository);
  repository.git('push', '--quiet', 'origin', 'main');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
});

const flag = (percent: number): string => flagText('a', percent, { staging: '' });

interface Step {
  readonly run: string;
  /** Where it runs; default: the checkout. */
  readonly folder?: string | undefined;
  /** What it is given of the variables of the pipeline; without it, all of them. */
  readonly env?: Variables | undefined;
}

type Variables = Readonly<Record<string, string>>;

/** The steps of a part of a pipeline, in their order: mappings with a script, or with its lines. Lines share a shell. */
function stepsIn(part: unknown): Step[] {
  if (typeof part !== 'object' || part === null) return [];
  const {
    script,
    run = script,
    workingDirectory: folder,
    env,
    ...more
  } = part as Readonly<{
    script?: string | readonly string[];
    run?: string | readonly string[];
    workingDirectory?: string;
    env?: Variables;
    'working-directory'?: string;
  }>;
  if (run === undefined) return Object.values(part).flatMap(stepsIn);
  return [{ run: [run].flat().join('\n'), folder: folder ?? more['working-directory'], env }];
}

/** @param path names of the part, parted by dots. */
function stepsAt(file: string, path: string): Step[] {
  const pipeline: unknown = parse(projectText(`recipes/${file}`));
  const part = path
    .split('.')
    .reduce((whole, name) => (whole as Readonly<Record<string, unknown>>)[name], pipeline);
  return stepsIn(part);
}

/** The values of `$(Name)` and `${{ secrets.NAME }}`. */
function filled(env: Variables, variables: Variables): Variables {
  const place = /\$\(([\w.]+)\)|\$\{\{ (?:secrets|vars)\.(\w+) \}\}/g;
  const entries = Object.entries(env).map(([name, text]) => [
    name,
    text.replaceAll(
      place,
      (_, azure: string | undefined, gitea: string) => variables[azure ?? gitea] ?? '',
    ),
  ]);
  return Object.fromEntries(entries) as Variables;
}

/** Runs steps in a fresh clone, up to the first that fails. @returns the folder for temporary files, and the end. */
async function job(
  name: string,
  branch: string,
  steps: readonly Step[],
  { origin, env, token = {} }: { origin: string; env: Variables; token?: Variables },
) {
  const temporary = join(folder, name);
  mkdirSync(join(temporary, 'review'), { recursive: true });
  const checkout = join(temporary, 'checkout');
  scenario.repository.git('clone', '--quiet', '--branch', branch, server.repository, checkout);
  const cloned = new TestRepository(checkout);
  cloned.git('remote', 'set-url', 'origin', origin);
  // The way that the forge gives to git alone, such as a proxy in the config of the checkout.
  cloned.git('config', `url.${server.repository}.insteadOf`, origin);
  const { key, origin: url } = scenario.service;
  const variables = {
    ...{ FLAGKEEL_URL: url, FLAGKEEL_API_KEY: key, FLAGKEEL_REVIEW_KEY: key, ...token },
    'Build.Repository.Uri': origin,
  };
  expect(steps.length).toBeGreaterThan(0);
  let end = { code: 0 as number | null, stdout: '', stderr: '' };
  for (const step of steps) {
    const script = step.run
      .replaceAll('/tmp', temporary)
      .replaceAll('https://bitbucket.org', new URL(server.url).origin);
    end = await start(['bash', '-e', '-c', script], '', {
      cwd: step.folder === undefined ? checkout : temporary,
      env: {
        ...{ PATH: withTools(folder), RUNNER_TEMP: temporary, AGENT_TEMPDIRECTORY: temporary },
        ...(step.env ? filled(step.env, variables) : variables),
        ...env,
        ...('GITHUB_ACTIONS' in env && { GITHUB_SERVER_URL: new URL(server.url).origin }),
      },
    }).ended;
    if (end.code !== 0) break;
  }
  return { end, temporary, checkout };
}

/** Each forge gives a job its checkout and its variables; a token that may push is one of the pipeline's own. */
it.each([
  {
    file: 'bitbucket-pipelines.yml',
    review: 'pipelines.pull-requests.**',
    apply: 'pipelines.branches.main',
    env: { BITBUCKET_PR_DESTINATION_BRANCH: 'main', BITBUCKET_REPO_FULL_NAME: 'flags.git' },
    user: 'x-token-auth',
    // Git alone gets there, through a proxy that the config of the checkout names.
    originOf: () => 'http://bitbucket.org/flags.git',
  },
  {
    file: 'azure-pipelines.yml',
    review: 'stages.0',
    apply: 'stages.1',
    env: { SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main' },
    originOf: (url: string) => url.replace('://', '://acme@'),
  },
  {
    file: 'gitea-flagkeel.yml',
    review: 'jobs.review',
    apply: 'jobs.apply',
    env: { GITHUB_BASE_REF: 'main', GITHUB_ACTIONS: 'true', GITHUB_TOKEN: 'of gitea' },
    originOf: (url: string) => url,
  },
])(
  'the recipe $file reviews a pull request as text, and applies its merge and remembers it on origin',
  async ({ file, review, apply, env, originOf, user = server.user }) => {
    const { repository } = scenario;
    const place = { origin: originOf(server.url), env };
    server.user = user;
    repository.git('checkout', '--quiet', '-b', 'ramp');
    scenario.commit({ 'flags/a.yaml': flag(20) }, 'Ramp a');
    repository.git('push', '--quiet', 'origin', 'ramp');
    scenario.service.requests.length = 0;

    const reviewed = await job('review', 'ramp', stepsAt(file, review), place);

    expect(reviewed.end, reviewed.end.stderr).toMatchObject({ code: 0 });
    const left = new TestRepository(reviewed.checkout).git('status', '--porcelain').split('\n');
    const inCheckout = left
      .filter((line) => line.endsWith('.md'))
      .map((line) => join(reviewed.checkout, basename(line.slice(3))));
    const elsewhere = ['review/flagkeel-review.md', 'flagkeel-review.md'].map((path) =>
      join(reviewed.temporary, path),
    );
    const [text] = [...inCheckout, ...elsewhere].filter(existsSync);
    expect(readFileSync(text ?? '-', 'utf8')).toContain('on 10 → 20 %');
    expect(scenario.writes()).toEqual([]);

    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge ramp', 'ramp');
    repository.git('push', '--quiet', 'origin', 'main');
    const remembered = rememberedOnOrigin();
    const token = { FLAGKEEL_GIT_TOKEN: server.token };
    const applied = await job('apply', 'main', stepsAt(file, apply), { ...place, token });

    expect(applied.end, applied.end.stderr).toMatchObject({ code: 0 });
    expect(await (await liveWorkspace(scenario.service)).share('a', 'staging')).toBe(20);
    // Without it the next job, in a fresh clone, would hold what a dropped one left.
    expect(rememberedOnOrigin(), applied.end.stderr).not.toBe(remembered);
  },
  120_000,
);

function rememberedOnOrigin(): string {
  return new TestRepository(server.repository).git('for-each-ref', 'refs/flagkeel');
}
