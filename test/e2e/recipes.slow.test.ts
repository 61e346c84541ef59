import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { start } from '../support/cli.js';
import { withTools } from '../support/forge-jobs.js';
import { TestRepository } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { projectText } from '../unit/docs/page.js';

const scenario = useScenario();
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'flagkeel-recipes-'));
  const { repository } = scenario;
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/a.yaml': flag(10) }, 'Add a flag');
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'origin.git'));
  repository.git('remote', 'add', 'origin', join(folder, 'origin.git'));
  repository.git('push', '--quiet', 'origin', 'main');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const flag = (percent: number): string => flagText('a', percent, { staging: '' });

interface Step {
  readonly run: string;
  /** Where it runs; default: the checkout. */
  readonly folder?: string | undefined;
}

/** The scripts of a recipe. */
interface Recipe {
  readonly review: readonly Step[];
  readonly apply: readonly Step[];
  /** What the forge tells the job of a review. */
  readonly env: Readonly<Record<string, string>>;
}

interface BitbucketStep {
  readonly step: { readonly script: readonly string[] };
}

interface Bitbucket {
  readonly pipelines: {
    readonly 'pull-requests': Readonly<Record<'**', readonly BitbucketStep[]>>;
    readonly branches: { readonly main: readonly BitbucketStep[] };
  };
}

interface AzureStep {
  readonly script?: string;
  readonly workingDirectory?: string;
}

interface Azure {
  readonly stages: readonly {
    readonly jobs: readonly {
      readonly steps?: readonly AzureStep[];
      readonly strategy?: {
        readonly runOnce: { readonly deploy: { readonly steps: readonly AzureStep[] } };
      };
    }[];
  }[];
}

interface Gitea {
  readonly jobs: Readonly<
    Record<
      'review' | 'apply',
      {
        readonly steps: readonly { readonly run?: string; readonly 'working-directory'?: string }[];
      }
    >
  >;
}

function bitbucket(): Recipe {
  const { pipelines } = parse(projectText('recipes/bitbucket-pipelines.yml')) as Bitbucket;
  // Steps of one script share a shell.
  const scripts = (steps: readonly BitbucketStep[]): Step[] =>
    steps.map(({ step }) => ({ run: step.script.join('\n') }));
  return {
    review: scripts(pipelines['pull-requests']['**']),
    apply: scripts(pipelines.branches.main),
    env: { BITBUCKET_PR_DESTINATION_BRANCH: 'main' },
  };
}

function azure(): Recipe {
  const { stages } = parse(projectText('recipes/azure-pipelines.yml')) as Azure;
  const [review, apply] = stages.map(({ jobs }) =>
    jobs.flatMap(({ steps, strategy }) =>
      (steps ?? strategy?.runOnce.deploy.steps ?? []).flatMap(({ script, workingDirectory }) =>
        script === undefined ? [] : [{ run: script, folder: workingDirectory }],
      ),
    ),
  );
  return {
    ...{ review: review ?? [], apply: apply ?? [] },
    env: { SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main' },
  };
}

function gitea(): Recipe {
  const { jobs } = parse(projectText('recipes/gitea-flagkeel.yml')) as Gitea;
  const [review = [], apply = []] = [jobs.review, jobs.apply].map(({ steps }) =>
    steps.flatMap(({ run, 'working-directory': place }) =>
      run === undefined ? [] : [{ run, folder: place }],
    ),
  );
  const like = { GITHUB_ACTIONS: 'true', GITHUB_TOKEN: 'of gitea' };
  return { review, apply, env: { GITHUB_BASE_REF: 'main', ...like } };
}

/** Runs steps in a fresh clone, up to the first that fails. @returns the folder for temporary files, and the end. */
async function job(name: string, branch: string, steps: readonly Step[], env: Recipe['env']) {
  const temporary = join(folder, name);
  mkdirSync(join(temporary, 'review'), { recursive: true });
  const checkout = join(temporary, 'checkout');
  scenario.repository.git(
    'clone',
    '--quiet',
    '--branch',
    branch,
    join(folder, 'origin.git'),
    checkout,
  );
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

it.each([
  ['bitbucket', bitbucket],
  ['azure', azure],
  ['gitea', gitea],
])(
  'the recipe for %s reviews a pull request as text, and applies its merge',
  async (name, of) => {
    const { review, apply, env } = of();
    const { repository } = scenario;
    repository.git('checkout', '--quiet', '-b', 'ramp');
    scenario.commit({ 'flags/a.yaml': flag(20) }, 'Ramp a');
    repository.git('push', '--quiet', 'origin', 'ramp');
    scenario.service.requests.length = 0;

    const reviewed = await job(`${name}-review`, 'ramp', review, env);

    expect(reviewed.end, reviewed.end.stderr).toMatchObject({ code: 0 });
    const texts = new TestRepository(reviewed.checkout)
      .git('status', '--porcelain')
      .split('\n')
      .map((line) => basename(line.slice(3)))
      .filter((file) => file.endsWith('.md'));
    const artifact =
      texts[0] === undefined
        ? [
            join(reviewed.temporary, 'review/flagkeel-review.md'),
            join(reviewed.temporary, 'flagkeel-review.md'),
          ]
        : [join(reviewed.checkout, texts[0])];
    expect(artifact.map(textIfThere).join('')).toContain('on 10 → 20 %');
    expect(scenario.writes()).toEqual([]);

    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge ramp', 'ramp');
    repository.git('push', '--quiet', 'origin', 'main');
    const applied = await job(`${name}-apply`, 'main', apply, {});

    expect(applied.end, applied.end.stderr).toMatchObject({ code: 0 });
    const live = await liveWorkspace(scenario.service);
    const path = `/splits/ws/${live.id}/a/environments/${live.staging}`;
    const { defaultRule } = await live.ok<{ defaultRule: { size: number }[] }>('GET', path);
    expect(defaultRule[0]?.size).toBe(20);
  },
  120_000,
);

function textIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
