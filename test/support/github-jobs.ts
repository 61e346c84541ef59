import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { projectText } from '../unit/docs/page.js';
import { start, type CliResult } from './cli.js';
import {
  jobFolder,
  killsFirst,
  touches,
  withTools,
  type ForgeEvent,
  type ForgeJobs,
  type ForgeWorld,
} from './forge-jobs.js';

/** The forge's program: it answers from files of a folder, and a file that is not there is an empty answer. */
export const GH = `#!/usr/bin/env bash
set -euo pipefail
answer() { cat "$GH_FOLDER/$1" 2>/dev/null || echo "$2"; }
case "$1 $2" in
  "api "*/pulls) answer "pulls-$(basename "$(dirname "$2")").json" '[]' | jq -r "$4" ;;
  "api "*/pulls/*) answer "pull-$(basename "$2").json" '{}' | jq -r "$4" ;;
  "api "*/permission) answer "permission-$(basename "$(dirname "$2")").json" '{"permission":"none"}' | jq -r "$4" ;;
  "api "*/runs\\?*) answer "runs-\${2##*head_sha=}.json" '{"workflow_runs":[]}' | jq -r "$4" ;;
  "api "*/artifacts\\?*) echo '{"artifacts":[{"name":"flagkeel-review","expired":false}]}' | jq -r "$4" ;;
  "run download") mkdir -p "\${9}"; cp "$GH_FOLDER/artifact-$3/"* "\${9}/" ;;
  "auth setup-git") ;;
  "pr create") printf '%s: %s\\n' "$4" "$6" >> "$GH_FOLDER/opened" ;;
  *) echo "gh: $*" >&2; exit 1 ;;
esac
`;

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string | number>>;
  readonly 'working-directory'?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly environment?: keyof ForgeWorld['keys'];
  readonly outputs?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, { branches?: string[]; paths?: string[] } | null>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const EVENT_NAMES = {
  'pull-request': 'pull_request',
  push: 'push',
  comment: 'issue_comment',
  nightly: 'schedule',
} as const;

/** Values of `${{ … }}`, by their full name. */
type Context = Map<string, string>;

export function githubJobs(world: ForgeWorld): ForgeJobs {
  const path = withTools(world.folder, { gh: GH });
  const kept = join(world.folder, 'gh');
  mkdirSync(kept);
  const files = killsFirst(readdirSync(new URL('../../workflows/', import.meta.url)));
  const workflows = files.map((file) => parse(projectText(`workflows/${file}`)) as Workflow);
  let count = 0;
  return {
    get opened() {
      const file = join(kept, 'opened');
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    },
    run: async (event, overrides = {}) => {
      const results = new Map<string, CliResult>();
      const { payload, env } = told(event, kept, world);
      const file = join(world.folder, 'event.json');
      writeFileSync(file, JSON.stringify(payload));
      for (const { jobs } of workflows.filter((each) => isMeant(each, event))) {
        const context = contextOf(payload, event, world);
        for (const [name, job] of Object.entries(jobs)) {
          if (!holds(job.if, context)) continue;
          count += 1;
          const temporary = jobFolder(world.folder, `job-${String(count)}`);
          const checkout = join(temporary, 'checkout');
          world.checkout(event, checkout);
          const key = isTrusted(event) && job.environment ? world.keys[job.environment]() : '';
          context.set('secrets.FLAGKEEL_API_KEY', key);
          context.set('vars.FLAGKEEL_URL', overrides['FLAGKEEL_URL'] ?? world.url());
          context.set('runner.temp', temporary);
          const place = {
            ...{ PATH: path, RUNNER_TEMP: temporary, GH_FOLDER: kept, GITHUB_EVENT_PATH: file },
            ...{ GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/flags', ...env },
            GITHUB_API_URL: world.forge.url,
          };
          const done = await runSteps(job, { checkout, temporary, place, context, kept });
          results.set(name, done);
          for (const [output, text] of Object.entries(job.outputs ?? {})) {
            context.set(`needs.${name}.outputs.${output}`, filled(text, context));
          }
          if (done.code !== 0) break;
        }
      }
      return results;
    },
    [Symbol.asyncDispose]: async () => Promise.resolve(),
  };
}

/** Secrets reach no job of a fork. */
function isTrusted(event: ForgeEvent): boolean {
  return event.kind !== 'pull-request' || event.from === 'branch';
}

function isMeant({ on }: Workflow, event: ForgeEvent): boolean {
  const name = EVENT_NAMES[event.kind];
  if (!(name in on)) return false;
  const { branches = ['main'], paths = ['**'] } = on[name] ?? {};
  return event.kind !== 'push' || (branches.includes('main') && touches(paths, event.changed));
}

/** What the forge answers and tells the jobs of an event. */
function told(
  event: ForgeEvent,
  kept: string,
  { forge }: ForgeWorld,
): { readonly payload: object; readonly env: Readonly<Record<string, string>> } {
  const keep = (name: string, value: unknown): void => {
    writeFileSync(join(kept, name), JSON.stringify(value));
  };
  const main = { GITHUB_REF_NAME: 'main', GITHUB_REF: 'refs/heads/main' };
  if (event.kind === 'pull-request') {
    const { number, head, base, from } = event;
    const repo = from === 'deleted-fork' ? null : { id: from === 'fork' ? 2 : 1 };
    const pull = { number, head: { sha: head, repo }, base: { sha: base, repo: { id: 1 } } };
    // The stand-in of the API knows one pull request.
    return { payload: { pull_request: { ...pull, number: 7 } }, env: { KEPT_HEAD: head } };
  }
  if (event.kind === 'push') {
    for (const { head, merge, isFork } of event.merged) {
      keep(`pulls-${merge}.json`, [
        { merged_at: '2026-10-01T12:00:00Z', base: { ref: 'main' }, head: { sha: head } },
      ]);
      const from = { full_name: isFork ? 'stranger/flags' : 'acme/flags' };
      const hasPlan = existsSync(join(kept, `artifact-${head}`));
      const runs = hasPlan ? [{ id: head, head_repository: from }] : [];
      keep(`runs-${head}.json`, { workflow_runs: runs });
    }
    return { payload: {}, env: { ...main, GITHUB_SHA: event.commit } };
  }
  if (event.kind === 'comment') {
    const { pull, author, body } = event;
    keep('pull-7.json', { merged: true, merge_commit_sha: pull.merge });
    const permission = forge.members.get(author);
    if (permission !== undefined) keep(`permission-${author}.json`, { permission });
    const issue = { number: 7, pull_request: { url: 'of a pull request' } };
    return { payload: { issue, comment: { body, user: { login: author } } }, env: main };
  }
  return { payload: {}, env: main };
}

/** The contexts `github.event` and `github.token`. */
function contextOf(payload: object, event: ForgeEvent, { forge }: ForgeWorld): Context {
  const context: Context = new Map([['github.token', forge.token]]);
  const walk = (name: string, value: unknown): void => {
    const isObject = typeof value === 'object' && value !== null;
    const isPlain = typeof value === 'string' || typeof value === 'number';
    context.set(name, isObject ? 'true' : isPlain ? String(value) : '');
    if (!isObject) return;
    for (const [member, inner] of Object.entries(value)) walk(`${name}.${member}`, inner);
  };
  walk('github.event', payload);
  context.set('github.event_name', EVENT_NAMES[event.kind]);
  return context;
}

/** An `if` of names, comparisons with texts, `startsWith`, `always()`, `&&` and `||`. */
function holds(condition: string | undefined, context: Context): boolean {
  if (condition === undefined) return true;
  const term = (text: string): boolean => {
    const start = /^startsWith\(([\w.]+), '(.*)'\)$/.exec(text);
    if (start) return (context.get(start[1] ?? '') ?? '').startsWith(start[2] ?? '');
    const [, name = text, relation, value] = /^([\w.-]+) (==|!=) '(.*)'$/.exec(text) ?? [];
    if (!/^[\w.-]+$/.test(name)) throw new Error(`cannot judge "${text}"`);
    const found = context.get(name) ?? '';
    if (relation === undefined) return found !== '';
    return (found === value) === (relation === '==');
  };
  return condition.split(' || ').some((all) => all.split(' && ').every(term));
}

function filled(text: string, context: Context): string {
  return text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => context.get(name) ?? '');
}

interface Surroundings {
  readonly checkout: string;
  readonly temporary: string;
  readonly place: Readonly<Record<string, string>>;
  readonly context: Context;
  readonly kept: string;
}

/** Runs steps up to the first that fails; later ones run only with `if: always()`. */
async function runSteps(
  { steps }: Job,
  { checkout, temporary, place, context, kept }: Surroundings,
): Promise<CliResult> {
  const outputs = join(temporary, 'outputs');
  let result: CliResult = { code: 0, stdout: '', stderr: '' };
  for (const step of steps) {
    if (result.code !== 0 && step.if !== 'always()') continue;
    if (step.uses?.startsWith('actions/upload-artifact@') === true) {
      const paths = filled(step.with?.['path'] ?? '', context)
        .trim()
        .split('\n');
      const artifact = join(kept, `artifact-${place['KEPT_HEAD'] ?? ''}`);
      mkdirSync(artifact, { recursive: true });
      for (const file of paths) cpSync(file, join(artifact, basename(file)));
    }
    if (step.run === undefined) continue;
    writeFileSync(outputs, '');
    const given = Object.entries(step.env ?? {}).map(
      ([name, text]) => [name, filled(String(text), context)] as const,
    );
    const done = await start(['bash', '-e', '-c', filled(step.run, context)], '', {
      cwd: filled(step['working-directory'] ?? checkout, context),
      env: { ...place, GITHUB_OUTPUT: outputs, ...Object.fromEntries(given) },
    }).ended;
    for (const [, name = '', value = ''] of readFileSync(outputs, 'utf8').matchAll(
      /^(\w+)=(.*)$/gm,
    )) {
      context.set(`steps.${step.id ?? ''}.outputs.${name}`, value);
    }
    result = result.code === 0 ? done : result;
  }
  return result;
}
