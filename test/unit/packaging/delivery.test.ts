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
  readonly strategy: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

describe('continuous integration', () => {
  const workflow = parse(readProjectFile('.github/workflows/ci.yml')) as Workflow;
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  it('runs the script that a developer runs, and nothing beside it', () => {
    expect(steps.flatMap(({ run }) => (run === undefined ? [] : [run]))).toEqual(['.ci/run']);
    expect(statSync(join(PROJECT, '.ci/run')).mode & 0o111).toBe(0o111);
  });

  it('runs it on the oldest Node that is supported and on the newer ones', () => {
    expect(jobs.map((job) => job.strategy.matrix.node)).toEqual([[20, 22, 24]]);
  });

  it('may read the repository and nothing else, and ends', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.concurrency['cancel-in-progress']).toBe(true);
    expect(jobs.map((job) => job['timeout-minutes'])).toEqual([20]);
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

describe('the container image', () => {
  const instructions = readProjectFile('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line.replaceAll(/\s+/g, ' ')))
    .flatMap((match) => (match ? [{ name: match[1] ?? '', value: match[2] ?? '' }] : []));
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));

  function valueOf(name: string): string | undefined {
    return last.find((each) => each.name === name)?.value;
  }

  it('stands on one major version of Node in every stage', () => {
    const bases = instructions.filter(({ name }) => name === 'FROM').map(({ value }) => value);
    expect(bases).toEqual(['node:20-slim AS build', 'node:20-slim']);
  });

  it('does not run as root, and passes signals on', () => {
    expect(valueOf('USER')).toBe('node');
    expect(valueOf('STOPSIGNAL')).toBe('SIGTERM');
    expect(JSON.parse(valueOf('ENTRYPOINT') ?? '')).toEqual([
      'tini',
      '--',
      'node',
      '/app/dist/main.js',
    ]);
  });

  it('keeps the state on its volume', () => {
    const volume = valueOf('VOLUME') ?? '-';
    expect(valueOf('ENV')).toContain(`FLAGHOIST_STATE_DIR=${volume}/`);
    expect(valueOf('WORKDIR')).toBe('/config');
  });

  it('is built from an allow-list that covers everything it copies', () => {
    const ignore = readProjectFile('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    expect(ignore[0]).toBe('*');
    const allowed = ignore.slice(1).map((line) => line.replace(/^!/, ''));
    const copied = instructions
      .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from='))
      .flatMap(({ value }) => value.split(' ').slice(0, -1));
    expect([...copied].sort()).toEqual([...allowed].sort());
  });
});
