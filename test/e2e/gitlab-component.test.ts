import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestRunner, type TestRunner } from '../support/action.js';
import type { CliResult } from '../support/cli.js';
import { startTestForge, type TestForge } from '../support/forge.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { projectText } from '../unit/docs/page.js';

interface Component {
  readonly spec: { readonly inputs: Readonly<Record<string, { readonly default?: string }>> };
}

interface Job {
  readonly script: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly artifacts: {
    readonly paths: readonly string[];
    readonly reports: { readonly junit: string };
  };
}

const flag = (percent: number): string => flagText('alpha', percent, { staging: '' });

const scenario = useScenario();
let forge: TestForge;
let runner: TestRunner;
let base: string;

beforeEach(async () => {
  forge = await startTestForge('gitlab');
  runner = await startTestRunner();
  base = scenario.commit(
    { 'flaghoist.yaml': STAGING_CONFIG, 'flags/alpha.yaml': flag(10) },
    'Add a flag',
  );
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
  scenario.commit({ 'flags/alpha.yaml': flag(25) }, 'Ramp alpha');
  scenario.service.requests.length = 0;
});

afterEach(async () => {
  await runner[Symbol.asyncDispose]();
  await forge.close();
});

interface Jobs {
  readonly 'flaghoist-review': Job;
}

/** The job of the component, with its inputs put in as GitLab does. The temporary folder of the machine is the runner's own. */
function jobOf(inputs: Readonly<Record<string, string>>): Job {
  const text = projectText('templates/review.yml');
  const [head] = parseAllDocuments(text).map((each) => each.toJS() as Component);
  const filled = text
    .replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
      return inputs[name] ?? head?.spec.inputs[name]?.default ?? '';
    })
    .replaceAll('/tmp', runner.temporary);
  const jobs = parseAllDocuments(filled)[1]?.toJS() as Jobs;
  return jobs['flaghoist-review'];
}

async function run({ script, variables }: Job): Promise<CliResult> {
  const { directory } = scenario.repository;
  return runner.shell(script, {
    cwd: directory,
    env: {
      ...variables,
      FLAGHOIST_API_KEY: scenario.service.key,
      GITLAB_TOKEN: forge.token,
      GITLAB_CI: 'true',
      CI_API_V4_URL: forge.url,
      CI_PROJECT_ID: '42',
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
      CI_COMMIT_SHA: scenario.repository.git('rev-parse', 'HEAD'),
      CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    },
  });
}

it('installs the program, reviews a merge request, and leaves the artifacts that it names', async () => {
  const job = jobOf({ url: scenario.service.origin });
  // A file of a commit may not choose where the program comes from.
  scenario.repository.write({ '.npmrc': 'registry=http://127.0.0.1:9/\n' });

  const result = await run(job);

  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 25 %')]);
  const { paths, reports } = job.artifacts;
  for (const path of [...paths, reports.junit]) {
    expect(existsSync(join(scenario.repository.directory, path))).toBe(true);
  }
  expect(readFileSync(join(scenario.repository.directory, 'flaghoist.md'), 'utf8')).toContain(
    'alpha',
  );
  expect(scenario.writes()).toEqual([]);
  expect(existsSync(runner.scriptMark)).toBe(false);
});

it('fails where the specs are invalid, and says so in the merge request', async () => {
  scenario.commit({ 'flags/alpha.yaml': 'flag: alpha\nkiled: true\n' }, 'Break alpha');

  const result = await run(jobOf({ url: scenario.service.origin }));

  expect(result.code).toBe(3);
  expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('kiled')]);
});
