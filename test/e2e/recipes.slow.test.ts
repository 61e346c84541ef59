import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { start } from '../support/cli.js';
import { withTools } from '../support/forge-jobs.js';
import { makeDirectory, TestRepository } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { projectText } from '../unit/docs/page.js';

const scenario = useScenario();
let folder: string;

beforeEach(async () => {
  folder = makeDirectory();
  const { repository } = scenario;
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/a.yaml': flag(10) }, 'Add a flag');
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'origin.git'));
  repository.git('remote', 'add', 'origin', join(folder, 'origin.git'));
  repository.git('push', '--quiet', 'origin', 'main');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
});

const flag = (percent: number): string => flagText('a', percent, { staging: '' });

interface Step {
  readonly run: string;
  /** Where it runs; default: the checkout. */
  readonly folder?: string | undefined;
}

/** The steps of a part of a pipeline, in their order: mappings with a script, or with its lines. Lines share a shell. */
function stepsIn(part: unknown): Step[] {
  if (typeof part !== 'object' || part === null) return [];
  const {
    script,
    run = script,
    workingDirectory: folder,
    ...more
  } = part as Readonly<{
    script?: string | readonly string[];
    run?: string | readonly string[];
    workingDirectory?: string;
    'working-directory'?: string;
  }>;
  if (run === undefined) return Object.values(part).flatMap(stepsIn);
  return [{ run: [run].flat().join('\n'), folder: folder ?? more['working-directory'] }];
}

/** @param path names of the part, parted by dots. */
function stepsAt(file: string, path: string): Step[] {
  const pipeline: unknown = parse(projectText(`recipes/${file}`));
  const part = path
    .split('.')
    .reduce((whole, name) => (whole as Readonly<Record<string, unknown>>)[name], pipeline);
  return stepsIn(part);
}

/** Runs steps in a fresh clone, up to the first that fails. @returns the folder for temporary files, and the end. */
async function job(
  name: string,
  branch: string,
  steps: readonly Step[],
  env: Readonly<Record<string, string>>,
) {
  const temporary = join(folder, name);
  mkdirSync(join(temporary, 'review'), { recursive: true });
  const checkout = join(temporary, 'checkout');
  const origin = join(folder, 'origin.git');
  scenario.repository.git('clone', '--quiet', '--branch', branch, origin, checkout);
  expect(steps.length).toBeGreaterThan(0);
  let end = { code: 0 as number | null, stdout: '', stderr: '' };
  for (const step of steps) {
    end = await start(['bash', '-e', '-c', step.run.replaceAll('/tmp', temporary)], '', {
      cwd: step.folder === undefined ? checkout : temporary,
      env: {
        ...{ PATH: withTools(folder), RUNNER_TEMP: temporary, AGENT_TEMPDIRECTORY: temporary },
        ...{ FLAGKEEL_URL: scenario.service.origin, FLAGKEEL_API_KEY: scenario.service.key },
        ...env,
      },
    }).ended;
    if (end.code !== 0) break;
  }
  return { end, temporary, checkout };
}

// The variables are what the forge tells the job of a review.
it.each([
  {
    file: 'bitbucket-pipelines.yml',
    review: 'pipelines.pull-requests.**',
    apply: 'pipelines.branches.main',
    env: { BITBUCKET_PR_DESTINATION_BRANCH: 'main' },
  },
  {
    file: 'azure-pipelines.yml',
    review: 'stages.0',
    apply: 'stages.1',
    env: { SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main' },
  },
  {
    file: 'gitea-flagkeel.yml',
    review: 'jobs.review',
    apply: 'jobs.apply',
    env: { GITHUB_BASE_REF: 'main', GITHUB_ACTIONS: 'true', GITHUB_TOKEN: 'of gitea' },
  },
])(
  'the recipe $file reviews a pull request as text, and applies its merge',
  async ({ file, review, apply, env }) => {
    const { repository } = scenario;
    repository.git('checkout', '--quiet', '-b', 'ramp');
    scenario.commit({ 'flags/a.yaml': flag(20) }, 'Ramp a');
    repository.git('push', '--quiet', 'origin', 'ramp');
    scenario.service.requests.length = 0;

    const reviewed = await job('review', 'ramp', stepsAt(file, review), env);

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
    const applied = await job('apply', 'main', stepsAt(file, apply), {});

    expect(applied.end, applied.end.stderr).toMatchObject({ code: 0 });
    expect(await (await liveWorkspace(scenario.service)).share('a', 'staging')).toBe(20);
  },
  120_000,
);
