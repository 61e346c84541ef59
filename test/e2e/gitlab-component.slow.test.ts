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
  readonly artifacts?: {
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
    { 'flagkeel.yaml': STAGING_CONFIG, 'flags/alpha.yaml': flag(10) },
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

/** The job of a component, with its inputs put in as GitLab does. The temporary folder of the machine is the runner's own. */
function jobOf(name: 'review' | 'approve'): Job {
  const text = projectText(`templates/${name}.yml`);
  const [head] = parseAllDocuments(text).map((each) => each.toJS() as Component);
  const inputs: Readonly<Record<string, string>> = { url: scenario.service.origin };
  const filled = text
    .replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => {
      return inputs[input] ?? head?.spec.inputs[input]?.default ?? '';
    })
    .replaceAll('/tmp', runner.temporary);
  const jobs = parseAllDocuments(filled)[1]?.toJS() as Readonly<Record<string, Job>>;
  const job = jobs[`flagkeel-${name}`];
  if (job === undefined) throw new Error(`no job flagkeel-${name}`);
  return job;
}

async function run(
  { script, variables }: Job,
  pipeline: Readonly<Record<string, string>>,
): Promise<CliResult> {
  const { directory } = scenario.repository;
  return runner.shell(script, {
    cwd: directory,
    env: {
      ...variables,
      FLAGKEEL_API_KEY: scenario.service.key,
      GITLAB_TOKEN: forge.token,
      GITLAB_CI: 'true',
      CI_API_V4_URL: forge.url,
      CI_PROJECT_ID: '42',
      CI_COMMIT_SHA: scenario.repository.git('rev-parse', 'HEAD'),
      ...pipeline,
    },
  });
}

async function review(): Promise<CliResult> {
  return run(jobOf('review'), {
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_PROJECT_ID: '42',
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
    CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
  });
}

/** A pipeline that somebody has started on the default branch, which knows of no merge request but by its variables. */
async function approve(hash: string): Promise<CliResult> {
  return run(jobOf('approve'), {
    PLAN_HASH: hash,
    CI_COMMIT_BRANCH: 'main',
    CI_DEFAULT_BRANCH: 'main',
    MERGE_REQUEST: '7',
  });
}

function note(author: string, hash: string): void {
  const body = `/flagkeel approve ${hash}`;
  forge.comments.push({ id: forge.comments.length, author, body });
}

it('installs the program, reviews a merge request, and leaves the artifacts that it names', async () => {
  // A file of a commit may not choose where the program comes from.
  scenario.repository.write({ '.npmrc': 'registry=http://127.0.0.1:9/\n' });

  const result = await review();

  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 25 %')]);
  const { paths = [], reports } = jobOf('review').artifacts ?? {};
  for (const path of [...paths, reports?.junit ?? '']) {
    expect(existsSync(join(scenario.repository.directory, path))).toBe(true);
  }
  expect(readFileSync(join(scenario.repository.directory, 'flagkeel.md'), 'utf8')).toContain(
    'alpha',
  );
  expect(scenario.writes()).toEqual([]);
  expect(existsSync(runner.scriptMark)).toBe(false);
});

it('fails where the specs are invalid, and says so in the merge request', async () => {
  scenario.commit({ 'flags/alpha.yaml': 'flag: alpha\nkiled: true\n' }, 'Break alpha');

  const result = await review();

  expect(result.code).toBe(3);
  expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('kiled')]);
});

it('applies what a note of somebody who may merge approves, in a pipeline that was started by hand', async () => {
  const config = `${STAGING_CONFIG}guards: { maxShift: 20 }\n`;
  scenario.commit({ 'flagkeel.yaml': config, 'flags/alpha.yaml': flag(90) }, 'Ramp alpha by far');
  forge.pull.base = base;
  const { planHash } = await scenario.dryRun<{ planHash: string }>();
  forge.members.set('ana', 40).set('reader', 20);
  scenario.service.requests.length = 0;
  // A file of a commit may not choose where the program comes from.
  scenario.repository.write({ '.npmrc': 'registry=http://127.0.0.1:9/\n' });
  note('reader', planHash);
  const refused = await approve(planHash);
  const written = scenario.writes().length;

  note('ana', planHash);
  const done = await approve(planHash);

  expect(refused, refused.stderr).toMatchObject({ code: 4 });
  expect(refused.stderr).toContain(`warning: reader may not merge, and so not approve ${planHash}`);
  expect(written).toBe(0);
  expect(done, done.stderr).toMatchObject({ code: 0 });
  const comments = scenario.service.requests
    .filter(({ method }) => method === 'PATCH')
    .map(({ query }) => query['comment']);
  expect(comments).toEqual([expect.stringContaining(`approved as ${planHash} by ana`)]);
  expect(existsSync(runner.scriptMark)).toBe(false);
});
