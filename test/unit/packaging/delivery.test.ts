import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROJECT, readProjectFile } from './project.js';

interface Workflow {
  readonly permissions: unknown;
  readonly concurrency: { readonly 'cancel-in-progress': boolean };
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly 'timeout-minutes': number;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

describe('continuous integration', () => {
  const workflow = parse(readProjectFile('.github/workflows/ci.yml')) as Workflow;
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  it('runs the scripts that a developer runs, and nothing beside them', () => {
    const scripts = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(scripts).toEqual(['.ci/run', 'scripts/test-image.sh']);
    for (const script of scripts) {
      expect(statSync(join(PROJECT, script)).mode & 0o111).toBe(0o111);
    }
  });

  it('runs it on the oldest Node that is supported and on the newer ones', () => {
    expect(workflow.jobs['check']?.strategy?.matrix.node).toEqual([20, 22, 24]);
  });

  it('may read the repository and nothing else, and ends', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.concurrency['cancel-in-progress']).toBe(true);
    expect(jobs.map((job) => job['timeout-minutes'])).toEqual([20, 20]);
  });

  it('pins every action to a major version', () => {
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.filter((action) => !/^actions\/[a-z-]+@v\d+$/.test(action))).toEqual([]);
  });
});

describe('.ci/run', () => {
  const lines = readProjectFile('.ci/run').split('\n');

  it('stops at the first command that fails', () => {
    expect(lines[0]).toBe('#!/usr/bin/env bash');
    expect(lines).toContain('set -euo pipefail');
  });

  it('installs from the lock file, checks, and lets no test be skipped', () => {
    expect(lines.filter((line) => /\bnpm\b/.test(line))).toEqual([
      'npm ci',
      'npm run check',
      'FLAGHOIST_TEST_ALL=1 npm test',
    ]);
  });
});
