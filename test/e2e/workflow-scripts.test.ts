import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { start } from '../support/cli.js';
import { withTools } from '../support/forge-jobs.js';
import { makeDirectory, makeRepository, type TestRepository } from '../support/git.js';
import { GH } from '../support/github-jobs.js';
import { listen } from '../support/loopback.js';
import { projectText } from '../unit/docs/page.js';

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The step of a workflow for GitHub that has this id or name. */
function stepOf(file: string, which: string): Step {
  const { jobs } = parse(projectText(`workflows/${file}`)) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
  };
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  return steps.find(({ id, name }) => id === which || name === which) ?? {};
}

/** The lines of the script of a component for GitLab, which keeps its files in this folder. */
function scriptOf(file: string, folder: string): readonly string[] {
  const text = projectText(`templates/${file}`).replaceAll('/tmp', folder);
  const jobs = parseAllDocuments(text)[1]?.toJS() as Record<string, { script: string[] }>;
  return Object.values(jobs).flatMap(({ script }) => script);
}

async function runScript(script = '', cwd: string, env: Readonly<Record<string, string>>) {
  const result = await start(['bash', '-e', '-c', script], '', { cwd, env }).ended;
  expect(result, result.stderr).toMatchObject({ code: 0 });
}

/** Of these lines a description has as many as it may hold, and says how many more there are. */
function expectCut(description: string, lines: readonly string[]): void {
  const shown = description.split('\n').slice(2);
  expect(shown.at(-1)).toMatch(/^ {4}… and \d+ more lines in the log of the job$/);
  expect(shown.slice(0, -1)).toEqual(lines.slice(0, shown.length - 1).map((line) => `    ${line}`));
}

const HASH = `sha256:${'a'.repeat(64)}`;

/** The step that says which commits the pull request 7 brought. @returns what `before` names. */
async function before(repository: TestRepository, merge: string, brought: readonly string[]) {
  const folder = makeDirectory();
  const kept = join(folder, 'gh');
  mkdirSync(kept);
  const keep = (name: string, value: unknown): void => {
    writeFileSync(join(kept, name), JSON.stringify(value));
  };
  keep('pull-7.json', { merged: true, merge_commit_sha: merge });
  for (const commit of brought) {
    keep(`pulls-${commit}.json`, [{ number: 7, merged_at: '2026-10-01T12:00:00Z' }]);
  }
  const step = stepOf('flagkeel-approve.yml', 'merge');
  const output = join(folder, 'output');
  await runScript(step.run, repository.directory, {
    ...{ ...step.env, PATH: withTools(folder, { gh: GH }), GH_FOLDER: kept },
    ...{ GITHUB_OUTPUT: output, GITHUB_REPOSITORY: 'acme/flags' },
    ...{ PULL: '7', COMMENT: `/flagkeel approve ${HASH}\r\nLooks fine` },
  });
  const [, hash, name = ''] = /^hash=(.*)\nbefore=(.*)$/m.exec(readFileSync(output, 'utf8')) ?? [];
  expect(hash).toBe(HASH);
  return repository.git('rev-parse', name);
}

it('an approval on GitHub covers all that its pull request brought, merged, squashed or rebased', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { a: '1' });
  const earlier = repository.commit('Change of another pull request', { a: '2' });
  const first = repository.commit('First', { b: '1' });
  const second = repository.commit('Second', { b: '2' });
  const rebased = await before(repository, second, [first, second]);
  const squashed = await before(repository, second, [second]);
  repository.git('checkout', '--quiet', '-b', 'other', first);
  const head = repository.commit('Of a branch', { c: '1' });
  repository.git('checkout', '--quiet', 'main');
  repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'other');
  const merge = repository.git('rev-parse', 'HEAD');

  expect(rebased).toBe(earlier);
  expect(squashed).toBe(first);
  expect(await before(repository, merge, [head, merge])).toBe(second);
});

/** Keeps the text of the pull request that is opened. */
const GH_KEEPING_BODY = `#!/usr/bin/env bash
test "$1 $2" != "pr create" || cp "\${8}" "$GH_FOLDER/body.md"
`;

it('a nightly look on GitHub that finds more than a pull request can say opens it all the same', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { a: '1' });
  const folder = makeDirectory();
  const origin = join(folder, 'origin.git');
  repository.git('init', '--quiet', '--bare', origin);
  repository.git('remote', 'add', 'origin', origin);
  repository.write({ a: '2' });
  const lines = Array.from(
    { length: 2_000 },
    (_, at) => `flag/${String(at)}: on 10 → 25 % · ünïcode`,
  );
  writeFileSync(join(folder, 'drift.txt'), lines.map((line) => `${line}\n`).join(''));

  await runScript(stepOf('flagkeel-drift.yml', 'Propose them').run, repository.directory, {
    ...{ PATH: withTools(folder, { gh: GH_KEEPING_BODY }), GH_FOLDER: folder },
    RUNNER_TEMP: folder,
  });

  const body = readFileSync(join(folder, 'body.md'), 'utf8');
  expect(body.length).toBeLessThanOrEqual(65_536);
  expectCut(body.trimEnd(), lines);
});

it('the nightly look on GitLab opens its merge request also where it found more than a description may hold', async () => {
  const folder = makeDirectory();
  const lines = Array.from(
    { length: 40_000 },
    (_, index) => `~ flag/f-${String(index)}: on 10 → 20 %`,
  );
  writeFileSync(join(folder, 'drift.txt'), lines.map((line) => `${line}\n`).join(''));
  const descriptions: string[] = [];
  const { url, close } = await listen(
    createServer((request, response) => {
      if (request.method === 'GET') response.end('[]');
      else {
        void json(request).then((body) => {
          descriptions.push((body as { description: string }).description);
          response.end('{}');
        });
      }
    }),
  );
  onTestFinished(close);
  const writes = scriptOf('drift.yml', folder).filter((line) => line.startsWith('cat >'));

  await runScript([...writes, `node ${folder}/propose.mjs`].join('\n'), folder, {
    ...{ CI_API_V4_URL: `${url}/api/v4`, CI_PROJECT_ID: '42', CI_DEFAULT_BRANCH: 'main' },
  });

  const [description = ''] = descriptions;
  expect(Buffer.byteLength(description)).toBeLessThanOrEqual(1_000_000);
  expectCut(description, lines);
});

/** The script that collects the plans of reviews, with the answers of GitLab by their path below the project. */
async function collected(repository: TestRepository, answers: Readonly<Record<string, unknown>>) {
  const { url, close } = await listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const answer = answers[pathname.replace('/api/v4/projects/42/', '')];
      const from = 100 * (Number(searchParams.get('page') ?? 1) - 1);
      const page: unknown = Array.isArray(answer) ? answer.slice(from, from + 100) : answer;
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(page));
    }),
  );
  onTestFinished(close);
  const folder = makeDirectory();
  const lines = scriptOf('apply.yml', folder).filter((line) => line.includes('collect.mjs'));
  await runScript(lines.join('\n'), repository.directory, {
    ...{ CI_API_V4_URL: `${url}/api/v4`, CI_PROJECT_ID: '42', CI_DEFAULT_BRANCH: 'main' },
    ...{ CI_COMMIT_SHA: repository.git('rev-parse', 'HEAD'), MERGES: '5' },
  });
  const plans = join(folder, 'plans');
  return readdirSync(plans).map((name) => [name, readFileSync(join(plans, name), 'utf8')]);
}

it('an apply on GitLab finds the review of the last commit, on the branch or on merged results, among 250 jobs', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { a: '1' });
  const merges = [7, 8].map(
    (iid) => [iid, repository.commit(`Merge !${String(iid)}`, { a: String(iid) })] as const,
  );
  const [head, older, onMerge, onOlder] = ['a', 'b', 'c', 'd'].map((each) => each.repeat(40));
  const request = { sha: head, state: 'merged', target_branch: 'main', source_project_id: 42 };
  const tests = Array.from({ length: 249 }, (_, index) => ({ id: 100 + index, name: 'test' }));
  const review = (id: number) => [
    ...tests,
    { id: id + 10, name: 'flagkeel-review', status: 'failed' },
    { id, name: 'flagkeel-review', status: 'success' },
  ];
  const answers = {
    ...Object.fromEntries(
      merges.map(([iid, commit]) => [
        `repository/commits/${commit}/merge_requests`,
        [{ iid, ...request }],
      ]),
    ),
    'merge_requests/7/pipelines': [{ id: 1, sha: head }],
    // GitLab shows of a pipeline of merged results the commit that it made, and none of the branch.
    'merge_requests/8/pipelines': [
      { id: 2, sha: onOlder },
      { id: 3, sha: onMerge },
    ],
    [`repository/commits/${onOlder ?? ''}`]: { parent_ids: ['e'.repeat(40), older] },
    [`repository/commits/${onMerge ?? ''}`]: { parent_ids: ['e'.repeat(40), head] },
    ...Object.fromEntries([1, 2, 3].map((id) => [`pipelines/${String(id)}/jobs`, review(id)])),
    ...Object.fromEntries(
      [1, 2, 3, 11, 12, 13].map((id) => [`jobs/${String(id)}/artifacts/flagkeel-plan.json`, id]),
    ),
  };

  expect(await collected(repository, answers)).toEqual([
    ['7.json', '1'],
    ['8.json', '3'],
    ['none.json', '[]'],
  ]);
});

it.each([
  ['azure-pipelines.yml', /artifact: flagkeel-review\n +#.*\n +condition: succeededOrFailed\(\)\n/],
  ['gitea-flagkeel.yml', /if: always\(\)\n +with:\n +name: flagkeel-review\n/],
])(
  'the recipe %s keeps a review that a guard refuses, of which nothing else says why',
  (file, kept) => {
    expect(projectText(`recipes/${file}`)).toMatch(kept);
  },
);
