import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { projectText } from '../unit/docs/page.js';
import { start, type CliResult } from './cli.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A pull request that was merged, as its forge knows it. */
export interface Merged {
  readonly number: number;
  readonly head: string;
  readonly merge: string;
  readonly isFork: boolean;
}

/** What a job of a forge gets. */
export interface JobSurroundings {
  /** The checkout, which the runner made before. */
  readonly checkout: string;
  /** A folder of this job alone. */
  readonly temporary: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs what `init` writes, step by step, as the runner of a forge does. */
export interface ForgeJobs extends AsyncDisposable {
  /** Keeps the artifact of a review that succeeded, under the newest commit of its pull request. */
  review(head: string, given: JobSurroundings): Promise<CliResult>;
  /** The job of a push to `main`. */
  apply(commit: string, merged: readonly Merged[], given: JobSurroundings): Promise<CliResult>;
  drift(given: JobSurroundings): Promise<CliResult>;
}

/** `npm install` puts this build there: what a registry is asked is tested with the action and the components. */
const NPM = `#!/usr/bin/env bash
mkdir -p flagkeel/node_modules/.bin
printf '#!/usr/bin/env bash\\nexec node %q "$@"\\n' '${MAIN}' > flagkeel/node_modules/.bin/flagkeel
chmod +x flagkeel/node_modules/.bin/flagkeel
`;

/** Answers from files of a folder; what is not there is an empty answer. */
const GH = `#!/usr/bin/env bash
set -euo pipefail
answer() { cat "$GH_FOLDER/$1" 2>/dev/null || echo "$2"; }
case "$1 $2" in
  "api "*/pulls) answer "pulls-$(basename "$(dirname "$2")").json" '[]' | jq -r "$4" ;;
  "api "*/runs\\?*) answer "runs-\${2##*head_sha=}.json" '{"workflow_runs":[]}' | jq -r "$4" ;;
  "api "*/artifacts\\?*) echo '{"artifacts":[{"name":"flagkeel-review","expired":false}]}' | jq -r "$4" ;;
  "run download") mkdir -p "\${9}"; cp "$GH_FOLDER/artifact-$3/"* "\${9}/" ;;
  "auth setup-git" | "pr create") ;;
  *) echo "gh: $*" >&2; exit 1 ;;
esac
`;

function tools(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, text] of Object.entries({ npm: NPM, gh: GH })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string | number>>;
  readonly 'working-directory'?: string;
  readonly with?: Readonly<Record<string, string>>;
}

/** @param folder of this test alone. */
export function githubJobs(folder: string): ForgeJobs {
  const path = tools(folder);
  const kept = join(folder, 'gh');
  mkdirSync(kept);
  const keep = (name: string, value: unknown): void => {
    writeFileSync(join(kept, name), JSON.stringify(value));
  };
  const job = async (
    file: string,
    { checkout, temporary, env }: JobSurroundings,
    onUpload: (paths: readonly string[]) => void = () => undefined,
  ): Promise<CliResult> => {
    const { jobs } = parse(projectText(`workflows/${file}`)) as {
      jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
    };
    const words = new Map([['runner.temp', temporary]]);
    const said = (text: string): string =>
      text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, word: string) => {
        return words.get(word) ?? env[word.replace(/^\w+\./, '')] ?? '';
      });
    const outputs = join(temporary, 'outputs');
    let last: CliResult = { code: 0, stdout: '', stderr: '' };
    for (const step of Object.values(jobs).flatMap(({ steps }) => steps)) {
      if (step.uses?.startsWith('actions/upload-artifact@') === true) {
        onUpload(
          said(step.with?.['path'] ?? '')
            .trim()
            .split('\n'),
        );
      }
      if (step.run === undefined) continue;
      writeFileSync(outputs, '');
      const given = Object.entries(step.env ?? {}).map(
        ([name, text]) => [name, said(String(text))] as const,
      );
      const place = {
        ...{ PATH: path, RUNNER_TEMP: temporary, GITHUB_OUTPUT: outputs, GH_FOLDER: kept },
        ...{ GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/flags', GITHUB_REF_NAME: 'main' },
      };
      const cwd = said(step['working-directory'] ?? checkout);
      const { ended } = start(['bash', '-e', '-c', step.run], '', {
        cwd,
        // Secrets reach only the steps that name them.
        env: { ...place, ...withoutSecrets(env), ...Object.fromEntries(given) },
      });
      last = await ended;
      if (last.code !== 0) return last;
      for (const [, name = '', value = ''] of readFileSync(outputs, 'utf8').matchAll(
        /^(\w+)=(.*)$/gm,
      )) {
        words.set(`steps.${step.id ?? ''}.outputs.${name}`, value);
      }
    }
    return last;
  };
  return {
    review: async (head, given) =>
      job('flagkeel-review.yml', given, (paths) => {
        mkdirSync(join(kept, `artifact-${head}`));
        paths.forEach((file) => {
          cpSync(file, join(kept, `artifact-${head}`, basename(file)));
        });
      }),
    apply: async (commit, merged, given) => {
      for (const { head, merge, isFork } of merged) {
        const pull = {
          merged_at: '2026-10-01T12:00:00Z',
          base: { ref: 'main' },
          head: { sha: head },
        };
        keep(`pulls-${merge}.json`, [pull]);
        const from = { full_name: isFork ? 'stranger/flags' : 'acme/flags' };
        const runs = existsSync(join(kept, `artifact-${head}`))
          ? [{ id: head, head_repository: from }]
          : [];
        keep(`runs-${head}.json`, { workflow_runs: runs });
      }
      return job('flagkeel-apply.yml', { ...given, env: { ...given.env, GITHUB_SHA: commit } });
    },
    drift: async (given) => job('flagkeel-drift.yml', given),
    [Symbol.asyncDispose]: async () => Promise.resolve(),
  };
}

function withoutSecrets(env: JobSurroundings['env']): JobSurroundings['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('GITHUB_')));
}

interface Component {
  readonly script: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** @param folder of this test alone. */
export async function gitlabJobs(folder: string): Promise<ForgeJobs> {
  const path = tools(folder);
  const plans = new Map<string, string>();
  const merges = new Map<string, Merged>();
  const server = gitlabApi(plans, merges);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const job = async (
    name: string,
    { checkout, temporary, env }: JobSurroundings,
  ): Promise<CliResult> => {
    const [, jobs] = parseAllDocuments(filled(projectText(`templates/${name}.yml`), temporary));
    const component = (jobs?.toJS() as Readonly<Record<string, Component>>)[`flagkeel-${name}`];
    if (!component) throw new Error(`no job flagkeel-${name}`);
    const { script, variables } = component;
    const place = { PATH: path, GITLAB_CI: 'true', CI_PROJECT_ID: '42', CI_DEFAULT_BRANCH: 'main' };
    return start(['bash', '-e', '-c', script.join('\n')], '', {
      cwd: checkout,
      // Variables of the project go before those of the job.
      env: { ...place, ...variables, ...env },
    }).ended;
  };
  return {
    review: async (head, given) => {
      const done = await job('review', given);
      const file = join(given.checkout, 'flagkeel-plan.json');
      if (done.code === 0) plans.set(head, readFileSync(file, 'utf8'));
      return done;
    },
    apply: async (commit, merged, given) => {
      merged.forEach((each) => merges.set(each.merge, each));
      const env = { ...given.env, CI_COMMIT_SHA: commit, CI_API_V4_URL: api };
      return job('apply', { ...given, env });
    },
    drift: async (given) => job('drift', given),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function filled(text: string, temporary: string): string {
  const inputs: Readonly<Record<string, string>> = { directory: '.', version: '0.1.0' };
  return text
    .replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => inputs[input] ?? '')
    .replaceAll('/tmp', temporary);
}

/** What the apply asks; jobs and pipelines have the number of their merge request. */
function gitlabApi(
  plans: ReadonlyMap<string, string>,
  merges: ReadonlyMap<string, Merged>,
): Server {
  const byNumber = (number: string): Merged | undefined =>
    [...merges.values()].find((each) => String(each.number) === number);
  const answer = (path: string): unknown => {
    const [, what = '', id = '', more = ''] =
      /^\/projects\/42\/(?:repository\/)?(\w+)\/(\w+)\/([\w./-]+)/.exec(path) ?? [];
    if (what === 'commits') {
      const found = merges.get(id);
      if (!found) return [];
      const { number: iid, head: sha, isFork } = found;
      return [
        { iid, sha, state: 'merged', target_branch: 'main', source_project_id: isFork ? 99 : 42 },
      ];
    }
    const head = byNumber(id)?.head ?? '';
    if (more === 'pipelines') return [{ id: Number(id), sha: head }];
    if (more === 'jobs')
      return plans.has(head) ? [{ id: Number(id), name: 'flagkeel-review' }] : [];
    return JSON.parse(plans.get(head) ?? 'null');
  };
  return createServer((request, response) => {
    response.end(JSON.stringify(answer(request.url ?? '')));
  });
}

/** A fresh folder for one job. */
export function jobFolder(folder: string, name: string): string {
  const made = join(folder, name);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  return made;
}
