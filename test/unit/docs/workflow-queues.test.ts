import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { projectText } from './page.js';

interface Job {
  readonly environment?: string | { readonly name: string };
  readonly needs?: string;
  readonly if?: string;
  readonly concurrency?: Readonly<Record<string, unknown>>;
  readonly resource_group?: string;
  readonly interruptible?: boolean;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const PROJECT = new URL('../../../', import.meta.url);
const WORKFLOWS = readdirSync(new URL('workflows/', PROJECT));
const TEMPLATES = readdirSync(new URL('templates/', PROJECT));

/** Jobs whose key may write. */
function writing(jobs: Readonly<Record<string, Job>>): Job[] {
  return Object.values(jobs).filter(({ environment }) => environment === 'production');
}

describe.each(WORKFLOWS)('workflows/%s', (file) => {
  const { on, concurrency, jobs } = parse(projectText(`workflows/${file}`)) as Workflow;

  it('cancels no run that waits to write, and lets all of them wait', () => {
    expect(writing(jobs).map((job) => job.concurrency)).toEqual(
      writing(jobs).map(() => ({
        group: 'flagkeel-apply',
        'cancel-in-progress': false,
        queue: 'max',
      })),
    );
  });

  it('takes no place in a queue for a comment of somebody who may not write', () => {
    if (!('issue_comment' in on)) return;
    expect(concurrency).toBeUndefined();
    const queued = Object.values(jobs).filter((job) => job.concurrency ?? job.environment);
    expect(queued.length).toBeGreaterThan(0);
    for (const { needs = '', if: condition } of queued) {
      expect(jobs[needs]).toBeDefined();
      expect(condition).toBe(
        `needs.${needs}.outputs.permission == 'write' || needs.${needs}.outputs.permission == 'admin'`,
      );
    }
  });
});

it('some workflow writes, and one begins with a comment', () => {
  const workflows = WORKFLOWS.map((file) => parse(projectText(`workflows/${file}`)) as Workflow);

  expect(workflows.flatMap(({ jobs }) => writing(jobs))).toHaveLength(2);
  expect(workflows.filter(({ on }) => 'issue_comment' in on)).toHaveLength(1);
});

it.each(TEMPLATES)(
  'templates/%s lets jobs that write wait for each other, and interrupts none',
  (file) => {
    const [, jobs] = parseAllDocuments(projectText(`templates/${file}`));

    for (const job of writing((jobs?.toJS() ?? {}) as Record<string, Job>)) {
      expect(job.resource_group).toBe('flagkeel-apply');
      expect(job.interruptible ?? false).toBe(false);
    }
  },
);
