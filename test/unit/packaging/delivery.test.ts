import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

interface Release {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, ReleaseJob>>;
}

interface ReleaseJob {
  readonly uses?: string;
  readonly needs?: readonly string[];
  readonly permissions?: unknown;
  readonly steps?: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: unknown;
  }[];
}

interface Nightly {
  readonly jobs: {
    readonly drawn: {
      readonly strategy: { readonly matrix: { readonly script: readonly string[] } };
    };
    readonly whole: Job & { readonly env: object };
  };
}

describe('continuous integration', () => {
  const workflow = parse(readProjectFile('.github/workflows/ci.yml')) as Workflow;
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  it('runs the scripts that a developer runs, and nothing beside them', () => {
    const scripts = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(scripts).toEqual([
      '.ci/run',
      'npm ci',
      'scripts/test-package.sh',
      'scripts/test-image.sh',
    ]);
    for (const script of scripts.filter((each) => each !== 'npm ci')) {
      expect(statSync(join(PROJECT, script)).mode & 0o111).toBe(0o111);
    }
  });

  it('runs it on the oldest Node that is supported and on the newer ones', () => {
    expect(workflow.jobs['check']?.strategy?.matrix.node).toEqual([20, 22, 24]);
    expect(workflow.jobs['package']?.strategy?.matrix.node).toEqual([20, 22, 24]);
  });

  it('may read the repository and nothing else, and ends', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.concurrency['cancel-in-progress']).toBe(true);
    expect(jobs.map((job) => job['timeout-minutes'])).toEqual([20, 20, 20]);
  });

  it('pins every action to a commit', () => {
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

describe('the nightly run', () => {
  const file = readProjectFile('.github/workflows/nightly.yml');
  const workflow = parse(file) as Workflow;

  it('runs scripts that there are, and draws their cases anew where the gate draws the same', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: object };
    const { jobs } = parse(file) as Nightly;
    expect(Object.keys(scripts)).toEqual(
      expect.arrayContaining([...jobs.drawn.strategy.matrix.script]),
    );
    expect(file).not.toContain('LAW_SEED');
    expect(readProjectFile('.ci/run')).toMatch(/^FLAGKEEL_LAW_SEED=\d+ .*npm test$/m);
  });

  it('runs the gate with whole laws on every Node that is supported, and tries a release', () => {
    const { whole } = (parse(file) as Nightly).jobs;
    expect(whole.strategy?.matrix.node).toEqual([20, 22, 24]);
    expect(whole.env).toEqual({ FLAGKEEL_LAW_RUNS: 'whole' });
    expect(whole.steps.slice(2)).toEqual([
      { run: '.ci/run' },
      { run: 'scripts/release-dry-run.sh' },
    ]);
  });

  it('pins every action to a commit, and may read the repository alone', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

describe('a release', () => {
  const { permissions, jobs } = parse(readProjectFile('.github/workflows/release.yml')) as Release;
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
  const runs = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));

  it('pins every action to a commit, and may read alone unless a job says otherwise', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it('waits for the gate, the package and the image of continuous integration', () => {
    const ci = readProjectFile('.github/workflows/ci.yml');
    expect(ci).toContain('workflow_call:');
    expect(jobs['check']).toEqual({ uses: './.github/workflows/ci.yml' });
    expect(Object.keys((parse(ci) as Workflow).jobs)).toEqual(['check', 'package', 'image']);
    expect(jobs['image']?.needs).toEqual(['check']);
    expect(jobs['package']?.needs).toEqual(['check', 'image']);
    expect(jobs['images']?.needs).toEqual(['package']);
  });

  it('publishes the archive that was installed, tried and signed, and not the directory', () => {
    const own = jobs['package']?.steps ?? [];
    const at = (part: string): number =>
      own.findIndex(({ run = '', uses = '' }) => `${run}${uses}`.includes(part));
    const order = [
      'scripts/release-files.sh',
      'scripts/test-package.sh release/flagkeel-*.tgz',
      'actions/attest-build-provenance@',
      'npm publish ./release/flagkeel-*.tgz --provenance',
      'gh release create',
    ].map(at);

    expect(order).not.toContain(-1);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    const files = ['notes.md', 'flagkeel-*.tgz', 'flagkeel.cdx.json', 'SHA256SUMS'];
    const published = own[at('gh release create')]?.run ?? '';
    expect(files.filter((file) => !published.includes(`release/${file}`))).toEqual([]);
    expect(own[at('attest')]?.with).toEqual({ 'subject-checksums': 'release/SHA256SUMS' });
  });

  it('pushes an image that was tried, and signs the one that bears the name of the version', () => {
    const image = (jobs['image']?.steps ?? []).map(({ run = '' }) => run).join('\n');
    const tried = image.indexOf('scripts/test-image.sh localhost/flagkeel:candidate');
    expect(tried).toBeGreaterThan(-1);
    expect(image.indexOf('scripts/release-image.sh --push')).toBeGreaterThan(tried);
    expect(jobs['images']?.steps?.at(-1)).toMatchObject({
      uses: expect.stringContaining('actions/attest-build-provenance@') as string,
      with: { 'subject-digest': '${{ steps.image.outputs.digest }}', 'push-to-registry': true },
    });
    for (const name of ['package', 'images']) {
      expect(jobs[name]?.permissions).toMatchObject({ attestations: 'write', 'id-token': 'write' });
    }
  });

  it('labels the image with version, source and commit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-image-'));
    writeFileSync(join(folder, 'docker'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const { stdout } = spawnSync(join(PROJECT, 'scripts/release-image.sh'), ['--push'], {
      encoding: 'utf8',
      env: {
        PATH: `${folder}:${process.env['PATH'] ?? ''}`,
        GITHUB_REF_NAME: 'v1.2.3',
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_REPOSITORY: 'acme/flagkeel',
        GITHUB_SHA: 'abc',
      },
    });
    rmSync(folder, { recursive: true });
    const given = stdout.split('\n').filter((word) => /^[A-Z]+=/.test(word));
    expect(given).toEqual([
      'VERSION=1.2.3',
      'SOURCE=https://github.com/acme/flagkeel',
      'REVISION=abc',
    ]);
    for (const label of ['version', 'source', 'revision']) {
      expect(readProjectFile('Dockerfile')).toContain(
        `org.opencontainers.image.${label}="\${${label.toUpperCase()}}"`,
      );
    }
  });

  it('lets nothing that a tag names into a script', () => {
    const unsafe = runs.filter((run) => /\$\{\{(?! matrix\.platform )/.test(run));
    expect(unsafe).toEqual([]);
  });

  /** @param tag of a checkout with version 1.2.3. */
  function prepared(tag: string): { status: number | null; said: string; manifest: unknown } {
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-release-'));
    writeFileSync(join(folder, 'package.json'), '{"name":"flagkeel","version":"1.2.3"}');
    const changes =
      '# Changelog\n\n## Unreleased\n\nSoon.\n\n## 1.2.3 (today)\n\nIt flies.\n\n## 1.2.2\n\nIt runs.\n';
    writeFileSync(join(folder, 'CHANGELOG.md'), changes);
    const script = join(PROJECT, 'scripts/release.mjs');
    const args = [script, tag, 'https://github.com/acme/flagkeel', folder];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    rmSync(folder, { recursive: true });
    return { status, said: stdout + stderr, manifest };
  }

  it('tells what is new from the changelog, and says in the package where it comes from', () => {
    expect(prepared('v1.2.3')).toMatchObject({
      status: 0,
      said: 'It flies.\n\n',
      manifest: {
        repository: { url: 'git+https://github.com/acme/flagkeel.git' },
        homepage: 'https://github.com/acme/flagkeel#readme',
        bugs: 'https://github.com/acme/flagkeel/issues',
      },
    });
  });

  it('comes to nothing where the tag is of another version', () => {
    expect(prepared('v1.2.4')).toMatchObject({ status: 1, manifest: { version: '1.2.3' } });
  });
});

describe('scripts/test-image.sh', () => {
  /** What it says where podman cannot start a container, although the image is there. */
  function tried(): { status: number | null; said: string } {
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-podman-'));
    const podman = `#!/bin/sh
case "$1 $*" in
  "run run --rm"*|"healthcheck "*) echo 'cannot start' >&2; exit 125 ;;
  "image "*Size*) echo 1000000 ;;
esac
`;
    writeFileSync(join(folder, 'podman'), podman, { mode: 0o755 });
    writeFileSync(join(folder, 'curl'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, TMPDIR: folder };
    const script = join(PROJECT, 'scripts/test-image.sh');
    const { status, stdout } = spawnSync(script, ['some/image'], { env, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    return { status, said: stdout };
  }

  it('takes no check for passed that could not run', { timeout: 60_000 }, () => {
    const { status, said } = tried();

    expect(status).toBe(1);
    for (const name of ['brings no npm', 'brings no curl', 'finds a daemon unwell']) {
      expect(said).toContain(`FAILED  ${name}`);
    }
    const asked = said.match(/^(?:ok {6}|FAILED  ).*$/gm) ?? [];
    const ofContainers =
      /brings|runs as|has |cannot write|tells|fetches|validates|applies|remembers|finds/;
    expect(asked.filter((line) => line.startsWith('ok') && ofContainers.test(line))).toEqual([]);
  });
});

describe('scripts/audit.sh', () => {
  /** @param npm a script that stands for the client of the registry. */
  function audited(npm: string): { status: number | null; said: string } {
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-audit-'));
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
      'npm run figures -- --check',
      'npm run figures:touched -- --check',
      'FLAGKEEL_LAW_SEED=20261122 FLAGKEEL_TEST_ALL=1 npm test',
      'FLAGKEEL_LAW_SEED=20261122 FLAGKEEL_TEST_ALL=1 npm run test:slow',
    ]);
  });
});
