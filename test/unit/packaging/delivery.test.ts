import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

  it('pins every action to a commit', () => {
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

describe('scripts/audit.sh', () => {
  /** @param npm a script that stands for the client of the registry. */
  function audited(npm: string): { status: number | null; said: string } {
    const folder = mkdtempSync(join(tmpdir(), 'flaghoist-audit-'));
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
    const script = join(PROJECT, 'scripts/audit.sh');
    const { status, stderr } = spawnSync(script, { env: { PATH }, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    return { status, said: stderr };
  }

  it('is part of continuous integration', () => {
    expect(readProjectFile('.ci/run').split('\n')).toContain('scripts/audit.sh');
  });

  it('passes where no hole is known', () => {
    expect(audited('exit 0')).toEqual({ status: 0, said: '' });
  });

  it('fails with the report where one is', () => {
    const report = '{"auditReportVersion":2,"vulnerabilities":{"x":{"severity":"high"}}}';
    expect(audited(`echo '${report}'; exit 1`)).toEqual({ status: 1, said: `${report}\n` });
  });

  it('says that it knows nothing where the registry does not answer', () => {
    const { status, said } = audited(`echo '{"error":{"summary":"405"}}'; exit 1`);
    expect(status).toBe(0);
    expect(said).toContain('not audited');
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
