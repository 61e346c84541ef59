import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { projectText } from '../unit/docs/page.js';
import { passOn } from './answers.js';
import { start, type CliResult } from './cli.js';
import {
  jobFolder,
  killsFirst,
  touches,
  withTools,
  type ForgeEvent,
  type ForgeJobs,
  type ForgeWorld,
  type Merged,
} from './forge-jobs.js';
import { listen } from './loopback.js';

interface Component {
  readonly script: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly environment: string | { readonly name: string };
  readonly rules: readonly { readonly if: string; readonly changes?: readonly string[] }[];
}

type Variables = Readonly<Record<string, string>>;

/** The API that the components' own scripts ask; what flagkeel asks goes to the stand-in of the world. */
interface Api {
  readonly plans: Map<string, string>;
  readonly merges: Map<string, Merged>;
  readonly opened: string[];
  /** Of the merge request that `MERGE_REQUEST` names. */
  approved: Merged | undefined;
}

export async function gitlabJobs(world: ForgeWorld): Promise<ForgeJobs> {
  const path = withTools(world.folder);
  const api: Api = { plans: new Map(), merges: new Map(), opened: [], approved: undefined };
  const { url: origin, close } = await listen(gitlabApi(api, world));
  const url = `${origin}/api/v4`;
  let count = 0;
  const runJob = async (
    component: string,
    event: ForgeEvent,
    variables: Variables,
    overrides: Variables,
  ): Promise<CliResult | null> => {
    count += 1;
    const temporary = jobFolder(world.folder, `job-${String(count)}`);
    const job = jobOf(component, temporary);
    if (!isMeant(job, event, variables)) return null;
    const checkout = join(temporary, 'checkout');
    world.checkout(event, checkout);
    const done = await start(['bash', '-e', '-c', job.script.join('\n')], '', {
      cwd: checkout,
      env: {
        ...{ PATH: path, GITLAB_CI: 'true', CI_API_V4_URL: url },
        CI_PROJECT_URL: `file://${world.folder}/origin`,
        ...job.variables,
        // Variables of the project replace those of the job.
        ...variables,
        ...projectVariables(job, event, world),
        ...overrides,
      },
    }).ended;
    const plan = join(checkout, 'flagkeel-plan.json');
    if (event.kind === 'pull-request' && done.code === 0 && existsSync(plan)) {
      api.plans.set(event.head, readFileSync(plan, 'utf8'));
    }
    return done;
  };
  return {
    opened: api.opened,
    run: async (event, overrides = {}) => {
      if (event.kind === 'push') event.merged.forEach((each) => api.merges.set(each.merge, each));
      if (event.kind === 'comment') api.approved = event.pull;
      const results = new Map<string, CliResult>();
      const variables = variablesOf(event);
      const files = readdirSync(new URL('../../templates/', import.meta.url));
      for (const file of killsFirst(files)) {
        const name = file.replace('.yml', '');
        const done = await runJob(name, event, variables, overrides);
        if (done) results.set(name, done);
      }
      return results;
    },
    [Symbol.asyncDispose]: close,
  };
}

function jobOf(name: string, temporary: string): Component {
  const inputs: Variables = { directory: '.', version: '0.1.0' };
  const component = projectText(`templates/${name}.yml`)
    .replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => inputs[input] ?? '')
    .replaceAll('/tmp', temporary);
  const [, jobs] = parseAllDocuments(component);
  const job = (jobs?.toJS() as Readonly<Record<string, Component>>)[`flagkeel-${name}`];
  if (!job) throw new Error(`no job flagkeel-${name}`);
  return job;
}

function variablesOf(event: ForgeEvent): Variables {
  const main = {
    ...{ CI_PROJECT_ID: '42', CI_DEFAULT_BRANCH: 'main', CI_PROJECT_PATH: 'acme/flags' },
  };
  const onMain = { ...main, CI_COMMIT_BRANCH: 'main' };
  if (event.kind === 'pull-request') {
    return {
      ...main,
      CI_PROJECT_ID: event.from === 'branch' ? '42' : '99',
      ...{ CI_PIPELINE_SOURCE: 'merge_request_event', CI_COMMIT_SHA: event.head },
      ...{ CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_DIFF_BASE_SHA: event.base },
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: event.from === 'branch' ? '42' : '99',
    };
  }
  if (event.kind === 'push') {
    return { ...onMain, CI_PIPELINE_SOURCE: 'push', CI_COMMIT_SHA: event.commit };
  }
  if (event.kind === 'nightly') return { ...onMain, CI_PIPELINE_SOURCE: 'schedule' };
  const [, hash = ''] = /(sha256:\w+)/.exec(event.body) ?? [];
  return { ...onMain, CI_PIPELINE_SOURCE: 'web', MERGE_REQUEST: '7', PLAN_HASH: hash };
}

/**
 * Variables that the project keeps: protected ones reach pipelines of `main` alone, and none reaches the pipeline of a
 * fork, which runs in the fork.
 */
function projectVariables({ environment }: Component, event: ForgeEvent, world: ForgeWorld) {
  const url = { FLAGKEEL_URL: world.url() };
  if (event.kind === 'pull-request' && event.from !== 'branch') return url;
  const name = typeof environment === 'string' ? environment : environment.name;
  const key = world.keys[name as keyof ForgeWorld['keys']]();
  const isProtected = name !== 'flagkeel-review';
  const isMain = event.kind !== 'pull-request';
  return {
    ...url,
    GITLAB_TOKEN: world.forge.token,
    ...((isMain || !isProtected) && { FLAGKEEL_API_KEY: key }),
  };
}

/** A rule of comparisons, `&&`, and names that have to be set; `changes` counts for pushes. */
function isMeant({ rules }: Component, event: ForgeEvent, variables: Variables): boolean {
  const value = (text: string): string =>
    text.startsWith('"') ? text.slice(1, -1) : (variables[text.slice(1)] ?? '');
  const term = (text: string): boolean => {
    const [, left = text, relation, right = ''] = /^(\S+) (==|!=) (\S+)$/.exec(text) ?? [];
    if (!/^[$"]\S+$/.test(left)) throw new Error(`cannot judge "${text}"`);
    if (relation === undefined) return value(left) !== '';
    return (value(left) === value(right)) === (relation === '==');
  };
  return rules.some(({ if: condition, changes = ['**'] }) => {
    const changed = event.kind === 'push' ? event.changed : ['any'];
    return condition.split(' && ').every(term) && touches(changes, changed);
  });
}

/** Pipelines and jobs have the number of their merge request. Everything else is the stand-in's. */
function gitlabApi(api: Api, { forge }: ForgeWorld): Server {
  const byNumber = (number: string): Merged | undefined =>
    [...api.merges.values()].find((each) => String(each.number) === number);
  const answer = (path: string): unknown => {
    const [, what = '', id = '', more = ''] =
      /^\/api\/v4\/projects\/42\/(?:repository\/)?(\w+)(?:\/(\w+))?(?:\/([\w./-]+))?/.exec(path) ??
      [];
    const head = byNumber(id)?.head ?? '';
    if (what === 'commits' && more === 'merge_requests') {
      const found = api.merges.get(id);
      if (!found) return [];
      const { number: iid, head: sha, isFork } = found;
      const source = { source_project_id: isFork ? 99 : 42 };
      return [{ iid, sha, state: 'merged', target_branch: 'main', ...source }];
    }
    if (what === 'merge_requests' && more === 'pipelines') return [{ id: Number(id), sha: head }];
    if (what === 'merge_requests' && id === '7' && more === '' && api.approved) {
      const merge = { state: 'merged', merge_commit_sha: api.approved.merge };
      return { iid: 7, target_branch: 'main', ...merge };
    }
    if (what === 'merge_requests' && path.includes('source_branch=')) return [];
    if (what === 'pipelines')
      return api.plans.has(head)
        ? [{ id: Number(id), name: 'flagkeel-review', status: 'success' }]
        : [];
    if (what === 'jobs') return JSON.parse(api.plans.get(head) ?? 'null');
    return undefined;
  };
  return createServer((request, response) => {
    const { method, url: path = '' } = request;
    const own = method === 'GET' ? answer(path) : undefined;
    if (own !== undefined) {
      response.end(JSON.stringify(own));
    } else if (method === 'POST' && path === '/api/v4/projects/42/merge_requests') {
      void json(request).then((body) => {
        const { source_branch: branch, title } = body as Record<string, string>;
        api.opened.push(`${branch ?? ''}: ${title ?? ''}`);
        response.writeHead(201).end('{"iid":99}');
      });
    } else {
      passOn(forge.url, request, response);
    }
  });
}
