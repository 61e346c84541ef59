import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectText } from './docs/page.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly environment?: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: Readonly<Record<string, unknown>>;
  readonly 'timeout-minutes'?: number;
  /** Not set for a job that is another workflow of this repository, which keeps the rules itself. */
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const filesIn = (folder: string): string[] =>
  readdirSync(new URL(`../../${folder}`, import.meta.url)).map((name) => folder + name);
/** The workflows that users copy, and those of this repository. */
const COPIED = filesIn('workflows/');
const ALL = [...COPIED, ...filesIn('.github/workflows/')];
const read = (file: string): Workflow => parse(projectText(file)) as Workflow;
const steps = (workflow: Workflow): Step[] =>
  Object.values(workflow.jobs).flatMap((job) => job.steps ?? []);

/** The rules of zizmor and actionlint that matter here, for a gate that has neither of them. */
describe.each(ALL)('%s', (file) => {
  const workflow = read(file);

  it('pins each action by its commit, and names the version beside it', () => {
    const used = projectText(file)
      .split('\n')
      .filter((line) => /^\s*-?\s*uses: (?!\.\/)/.test(line));

    expect(
      used.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/.test(line)),
    ).toEqual([]);
  });

  it('runs no script into which an expression is pasted', () => {
    const scripts = steps(workflow).flatMap(({ run = '' }) => run.match(/\$\{\{.*?\}\}/g) ?? []);

    expect(scripts).toEqual([]);
  });

  it('leaves no credentials in a checkout', () => {
    const checkouts = steps(workflow).filter(({ uses = '' }) =>
      uses.startsWith('actions/checkout@'),
    );

    expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(
      checkouts.map(() => false),
    );
  });

  it('is not started by an event that runs foreign code with the secrets of this repository', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    expect(Object.keys(workflow.on)).not.toContain('workflow_run');
  });

  it('gives write access to single jobs alone', () => {
    expect(Object.values(workflow.permissions ?? { all: 'write' })).not.toContain('write');
  });

  it('limits the time of each job', () => {
    const jobs = Object.values(workflow.jobs).filter(({ steps: own }) => own !== undefined);
    const times = jobs.map((job) => job['timeout-minutes'] ?? 0);

    expect(Math.min(...times)).toBeGreaterThan(0);
  });
});

describe.each(COPIED)('%s, which users copy', (file) => {
  const workflow = read(file);

  it('gives secrets only to jobs of an environment, and there only to single steps', () => {
    for (const job of Object.values(workflow.jobs)) {
      const { steps: own = [], ...rest } = job;
      expect(JSON.stringify(rest)).not.toContain('secrets.');
      const reads = JSON.stringify(own).includes('secrets.');
      expect(reads && job.environment === undefined).toBe(false);
      expect(own.filter((step) => JSON.stringify(step.with ?? {}).includes('secrets.'))).toEqual(
        [],
      );
    }
  });

  it('says of each job what its token may do', () => {
    expect(Object.values(workflow.jobs).filter((job) => job.permissions === undefined)).toEqual([]);
    expect(workflow.permissions).toEqual({});
  });

  it('cancels no job that writes to the service, and no comment of anybody claims its queue', () => {
    const writes = Object.values(workflow.jobs).filter(
      ({ environment }) => environment === 'production',
    );

    for (const { concurrency } of writes) {
      expect(concurrency).toEqual({
        ...{ group: 'flagkeel-apply', 'cancel-in-progress': false, queue: 'max' },
      });
    }
    if (writes.length > 0) expect(workflow.concurrency).toBeUndefined();
  });

  it('reads no cache, which a branch could have filled', () => {
    const cached = steps(workflow).filter(({ uses = '', with: given = {} }) => {
      return uses.startsWith('actions/cache') || given['cache'] !== undefined;
    });

    expect(cached).toEqual([]);
  });
});
