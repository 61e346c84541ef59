import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeDirectory } from '../../support/git.js';
import { PROJECT, projectText } from '../docs/page.js';

interface Job {
  readonly uses?: string;
  readonly needs?: readonly string[];
  readonly permissions?: unknown;
  readonly strategy?: { readonly matrix: { readonly script?: readonly string[] } };
  readonly steps?: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: unknown;
  }[];
}

/** The jobs of a workflow. `workflow-rules.test.ts` holds what every workflow keeps. */
function jobsOf(name: string): Readonly<Record<string, Job>> {
  const text = projectText(`.github/workflows/${name}.yml`);
  return (parse(text) as { jobs: Readonly<Record<string, Job>> }).jobs;
}

/** Runs a script with stand-ins for the programs that it calls: name → script of a shell. */
function spawnWith(
  script: string,
  args: readonly string[],
  programs: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
) {
  const folder = makeDirectory();
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const env = { ...variables, PATH: `${folder}:${process.env['PATH'] ?? ''}`, TMPDIR: folder };
  return spawnSync(join(PROJECT, script), args, { env, encoding: 'utf8' });
}

describe('the nightly run', () => {
  const { drawn } = jobsOf('nightly');

  it('runs scripts that there are, and draws their cases anew where the gate draws the same', () => {
    const { scripts } = JSON.parse(projectText('package.json')) as { scripts: object };
    const { script = [] } = drawn?.strategy?.matrix ?? {};
    expect(script).not.toEqual([]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...script]));
    expect(projectText('.github/workflows/nightly.yml')).not.toContain('LAW_SEED');
    expect(projectText('.ci/run')).toMatch(/^FLAGKEEL_LAW_SEED=\d+ FLAGKEEL_TEST_ALL=1 npm test$/m);
  });
});

describe('a release', () => {
  const jobs = jobsOf('release');

  it('waits for the gate, the package and the image of continuous integration', () => {
    expect(projectText('.github/workflows/ci.yml')).toContain('workflow_call:');
    expect(jobs['check']).toEqual({ uses: './.github/workflows/ci.yml' });
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
    const docker = 'printf "%s\\n" "$@"';
    const { stdout } = spawnWith(
      ...(['scripts/release-image.sh', ['--push'], { docker }] as const),
      {
        GITHUB_REF_NAME: 'v1.2.3',
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_REPOSITORY: 'acme/flagkeel',
        GITHUB_SHA: 'abc',
      },
    );
    const given = stdout.split('\n').filter((word) => /^[A-Z]+=/.test(word));
    expect(given).toEqual([
      'VERSION=1.2.3',
      'SOURCE=https://github.com/acme/flagkeel',
      'REVISION=abc',
    ]);
    for (const label of ['version', 'source', 'revision']) {
      expect(projectText('Dockerfile')).toContain(
        `org.opencontainers.image.${label}="\${${label.toUpperCase()}}"`,
      );
    }
  });

  /** @param tag of a checkout with version 1.2.3. */
  function prepared(tag: string): { status: number | null; said: string; manifest: unknown } {
    const folder = makeDirectory();
    writeFileSync(join(folder, 'package.json'), '{"name":"flagkeel","version":"1.2.3"}');
    const changes =
      '# Changelog\n\n## Unreleased\n\nSoon.\n\n## 1.2.3 (today)\n\nIt flies.\n\n## 1.2.2\n\nIt runs.\n';
    writeFileSync(join(folder, 'CHANGELOG.md'), changes);
    const script = join(PROJECT, 'scripts/release.mjs');
    const args = [script, tag, 'https://github.com/acme/flagkeel', folder];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { status, said: stdout + stderr, manifest };
  }

  it('tells what is new from the changelog, says where the package comes from, and refuses another tag', () => {
    expect(prepared('v1.2.3')).toMatchObject({
      status: 0,
      said: 'It flies.\n\n',
      manifest: {
        repository: { url: 'git+https://github.com/acme/flagkeel.git' },
        homepage: 'https://github.com/acme/flagkeel#readme',
        bugs: 'https://github.com/acme/flagkeel/issues',
      },
    });
    expect(prepared('v1.2.4')).toMatchObject({ status: 1, manifest: { version: '1.2.3' } });
  });
});

it(
  'scripts/test-image.sh takes no check for passed that could not run',
  { timeout: 60_000 },
  () => {
    // Podman has the image, and cannot start a container.
    const podman = `case "$1 $*" in
  "run run --rm"*|"healthcheck "*) echo 'cannot start' >&2; exit 125 ;;
  "image "*Size*) echo 1000000 ;;
esac`;
    const programs = { podman, curl: ':', sleep: ':' };
    const { status, stdout: said } = spawnWith('scripts/test-image.sh', ['some/image'], programs);

    expect(status).toBe(1);
    for (const name of ['brings no npm', 'brings no curl', 'finds a daemon unwell']) {
      expect(said).toContain(`FAILED  ${name}`);
    }
    const asked = said.match(/^(?:ok {6}|FAILED  ).*$/gm) ?? [];
    const ofContainers =
      /brings|runs as|has |cannot write|tells|fetches|validates|applies|remembers|finds/;
    expect(asked.filter((line) => line.startsWith('ok') && ofContainers.test(line))).toEqual([]);
  },
);

describe('scripts/audit.sh', () => {
  const report = '{"auditReportVersion":2,"vulnerabilities":{"x":{"severity":"high"}}}';

  it.each([
    ['passes where no hole is known', 'exit 0', 0, /^$/],
    ['fails with the report where one is', `echo '${report}'; exit 1`, 1, /^\{.*"high".*\}\n$/],
    [
      'says that it knows nothing where the registry does not answer',
      `echo '{"error":{"summary":"405"}}'; exit 1`,
      ...([0, /not audited/] as const),
    ],
  ])('%s', (_, npm, expected, said) => {
    const { status, stderr } = spawnWith('scripts/audit.sh', [], { npm });

    expect({ status, stderr }).toEqual({
      status: expected,
      stderr: expect.stringMatching(said) as string,
    });
  });
});
