import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OUR_ACCOUNT, startTestForge, type TestForge } from './forge.js';
import type { ForgeEvent, ForgeJobs, JobResults, Merged } from './forge-jobs.js';
import { TestRepository, type Files } from './git.js';
import { githubJobs } from './github-jobs.js';
import { gitlabJobs } from './gitlab-jobs.js';
import { liveWorkspace } from './live-workspace.js';
import type { Scenario } from './scenario.js';

/** What an event made jobs do. */
export interface Played {
  readonly results: JobResults;
  /** Job and exit code of each that ran: `review 0, apply 8`. */
  readonly codes: string;
  /** Requests to the service, in all and up to the answer of the first write; null if there was no write. */
  readonly requests: number;
  readonly requestsToLive: number | null;
  /** Seconds from the event to the answer of the first write. */
  readonly secondsToLive: number | null;
}

/** A repository on a forge, the service, and people who work with both. */
export interface WorkflowWorld extends AsyncDisposable {
  readonly forge: TestForge;
  readonly jobs: ForgeJobs;
  /** Opens a pull request with these files. */
  open(files: Files, from?: 'branch' | 'fork' | 'deleted-fork'): Promise<Played>;
  /** Pushes another commit to the pull request that was opened last. */
  push(files: Files): Promise<Played>;
  /** Merges it. Its jobs run with `land`. */
  merge(): Merged;
  /** Runs the jobs of the push of a merge, as often as it is called. */
  land(merge: Pick<Merged, 'merge'>, overrides?: Readonly<Record<string, string>>): Promise<Played>;
  /** Commits on `main` without a pull request. */
  pushToMain(files: Files): Promise<Played>;
  comment(pull: Merged, author: string, body: string): Promise<Played>;
  night(): Promise<Played>;
  /** The share of `on` of each flag, or `killed`. */
  live(flags: readonly string[]): Promise<string>;
  /** The hash that the review's comment offers for approval. */
  offeredHash(): string;
}

interface Pull {
  readonly number: number;
  readonly base: string;
  readonly from: 'branch' | 'fork' | 'deleted-fork';
  head: string;
  readonly changed: Set<string>;
}

/** @param scenario has a commit on `main` that was applied. */
export async function workflowWorld(
  kind: 'github' | 'gitlab',
  scenario: Scenario,
): Promise<WorkflowWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-workflows-'));
  const { repository } = scenario;
  const forge = await startTestForge(kind);
  const origin = join(folder, 'origin.git');
  const git = (...args: readonly string[]): string => repository.git(...args);
  git('init', '--quiet', '--bare', '--initial-branch=main', origin);
  git('remote', 'add', 'origin', origin);
  git('push', '--quiet', 'origin', 'main');
  const key = (): string => scenario.service.key;
  const world = {
    ...{ folder, forge, url: () => scenario.service.origin },
    keys: { production: key, 'flagkeel-review': key, 'flagkeel-kill': key },
    checkout: (event: ForgeEvent, directory: string): void => {
      git('clone', '--quiet', origin, directory);
      const cloned = new TestRepository(directory);
      const commit =
        event.kind === 'pull-request' ? event.head : event.kind === 'push' ? event.commit : 'main';
      cloned.git('fetch', '--quiet', repository.directory, commit);
      cloned.git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
    },
  };
  const jobs = kind === 'github' ? githubJobs(world) : await gitlabJobs(world);
  const merged: Merged[] = [];
  const changedBy = new Map<string, readonly string[]>();
  let pull: Pull | undefined;
  let pulls = 10;

  const play: (
    event: ForgeEvent,
    overrides?: Readonly<Record<string, string>>,
  ) => Promise<Played> = async (event, overrides) => {
    const { requests } = scenario.service;
    requests.length = 0;
    const begin = performance.now();
    const writtenMs: number[] = [];
    const watch = setInterval(() => {
      const at = requests.findIndex(({ method }) => method !== 'GET');
      if (at >= 0) writtenMs.push(performance.now() - begin);
    }, 5);
    const results = await jobs.run(event, overrides);
    clearInterval(watch);
    const at = requests.findIndex(({ method }) => method !== 'GET');
    return {
      results,
      codes: [...results].map(([name, { code }]) => `${name} ${String(code)}`).join(', '),
      requests: requests.length,
      requestsToLive: at < 0 ? null : at + 1,
      secondsToLive: at < 0 ? null : (writtenMs.at(0) ?? performance.now() - begin) / 1_000,
    };
  };
  const review = async ({ number, head, base, from }: Pull): Promise<Played> =>
    play({ kind: 'pull-request', number, head, base, from });
  const commitOf = (files: Files): string =>
    repository.commit(`Change ${Object.keys(files).join(', ')}`, files);
  const land: WorkflowWorld['land'] = async ({ merge: commit }, overrides) =>
    play({ kind: 'push', commit, changed: changedBy.get(commit) ?? [], merged }, overrides);
  return {
    ...{ forge, jobs, land },
    open: async (files, from = 'branch') => {
      pulls += 1;
      const base = git('rev-parse', 'main');
      git('checkout', '--quiet', '-b', `branch-${String(pulls)}`);
      const head = commitOf(files);
      pull = { number: pulls, base, from, head, changed: new Set(Object.keys(files)) };
      git('checkout', '--quiet', 'main');
      return review(pull);
    },
    push: async (files) => {
      if (!pull) throw new Error('no pull request is open');
      git('checkout', '--quiet', `branch-${String(pull.number)}`);
      pull.head = commitOf(files);
      for (const path of Object.keys(files)) pull.changed.add(path);
      git('checkout', '--quiet', 'main');
      return review(pull);
    },
    merge: () => {
      if (!pull) throw new Error('no pull request is open');
      const { number, head, from, changed } = pull;
      const words =
        kind === 'github'
          ? `Merge pull request #${String(number)} from acme/branch`
          : `Merge branch\n\nSee merge request acme/flags!${String(number)}`;
      git('merge', '--quiet', '--no-ff', '-m', words, `branch-${String(number)}`);
      git('push', '--quiet', 'origin', 'main');
      const one = { number, head, merge: git('rev-parse', 'main'), isFork: from !== 'branch' };
      merged.push(one);
      changedBy.set(one.merge, [...changed]);
      return one;
    },
    pushToMain: async (files) => {
      const merge = commitOf(files);
      git('push', '--quiet', 'origin', 'main');
      changedBy.set(merge, Object.keys(files));
      return land({ merge });
    },
    comment: async (of, author, body) => {
      forge.comments.push({ id: 2_000 + forge.comments.length, body, author });
      return play({ kind: 'comment', pull: of, author, body });
    },
    night: async () => play({ kind: 'nightly' }),
    live: async (flags) => {
      const service = await liveWorkspace(scenario.service);
      const shares = flags.map(async (name) => {
        const { killed } = await service.definition(name, 'staging');
        const on = await service.share(name, 'staging');
        return `\`${name}\` ${killed ? 'killed' : String(on)}`;
      });
      return (await Promise.all(shares)).join(', ');
    },
    offeredHash: () => {
      const { body = '' } = forge.comments.findLast(({ author }) => author === OUR_ACCOUNT) ?? {};
      // As people read it: a comment escapes the colon.
      return /sha256:[0-9a-f]{64}/.exec(body.replaceAll('&#58;', ':'))?.[0] ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      await jobs[Symbol.asyncDispose]();
      await forge.close();
      rmSync(folder, { recursive: true });
    },
  };
}
