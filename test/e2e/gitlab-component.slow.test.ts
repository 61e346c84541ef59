import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, it, onTestFinished } from 'vitest';
import { startTestRunner } from '../support/action.js';
import { startTestForge } from '../support/forge.js';
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

/** The job of the component, with its inputs put in as GitLab does, and a folder in place of that of the machine. */
function reviewJob(temporary: string): Job {
  const text = projectText('templates/review.yml');
  const [head] = parseAllDocuments(text).map((each) => each.toJS() as Component);
  const filled = text
    .replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => {
      return input === 'url' ? scenario.service.origin : (head?.spec.inputs[input]?.default ?? '');
    })
    .replaceAll('/tmp', temporary);
  const jobs = parseAllDocuments(filled)[1]?.toJS() as Readonly<Record<string, Job>>;
  const job = jobs['flagkeel-review'];
  if (job === undefined) throw new Error('no job flagkeel-review');
  return job;
}

it('installs the program, reviews a merge request, and leaves the artifacts that it names', async () => {
  const [forge, runner] = [await startTestForge('gitlab'), await startTestRunner()];
  onTestFinished(async () => {
    await runner[Symbol.asyncDispose]();
    await forge.close();
  });
  const files = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/alpha.yaml': flag(10) };
  const base = scenario.commit(files, 'Add a flag');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
  const head = scenario.commit({ 'flags/alpha.yaml': flag(25) }, 'Ramp alpha');
  scenario.service.requests.length = 0;
  // A file of a commit may not choose where the program comes from.
  scenario.repository.write({ '.npmrc': 'registry=http://127.0.0.1:9/\n' });
  const { directory } = scenario.repository;
  const { script, variables, artifacts } = reviewJob(runner.temporary);

  const result = await runner.shell(script, {
    cwd: directory,
    env: {
      ...variables,
      FLAGKEEL_API_KEY: scenario.service.key,
      GITLAB_TOKEN: forge.token,
      GITLAB_CI: 'true',
      CI_API_V4_URL: forge.url,
      CI_PROJECT_ID: '42',
      CI_COMMIT_SHA: head,
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    },
  });

  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 25 %')]);
  const named = [...artifacts.paths, artifacts.reports.junit];
  expect(named.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
  expect(readFileSync(join(directory, 'flagkeel.md'), 'utf8')).toContain('alpha');
  expect(scenario.writes()).toEqual([]);
  expect(existsSync(runner.scriptMark)).toBe(false);
});
