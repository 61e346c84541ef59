import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { cliRun } from '../../support/terminal.js';
import { projectText, sectionOf } from '../docs/page.js';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly environment?: string;
  readonly needs?: string | readonly string[];
  readonly outputs?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly name: string;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Written {
  readonly file: string;
  readonly text: string;
  readonly workflow: Workflow;
}

let directory: string;
let message: string;
let written: Written[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-init-workflows-'));
  ({ stdout: message } = await cliRun(['init', directory]));
  const folder = join(directory, '.github/workflows');
  written = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return { file, text, workflow: parse(text) as Workflow };
  });
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** What the pattern's first group finds in all files, each once, in order. */
function found(pattern: RegExp): string[] {
  const all = written.flatMap(({ text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name),
  );
  return [...new Set(all)].sort();
}

function jobsOf({ workflow }: Written): Job[] {
  return Object.values(workflow.jobs);
}

describe('the workflows that init writes', () => {
  it('name each other by the files that init wrote', () => {
    const named = found(/(?<![\w/.-])([\w-]+\.ya?ml)\b/g).filter(
      (file) => file !== 'flagkeel.yaml',
    );

    expect(named).toContain('flagkeel-review.yml');
    expect(written.map(({ file }) => file)).toEqual(expect.arrayContaining(named));
  });

  it('have names of their own', () => {
    const names = written.map(({ workflow }) => workflow.name);

    expect(new Set(names).size).toBe(5);
  });

  it('download only artifacts and files that one of them uploads', () => {
    const uploads = written
      .flatMap(jobsOf)
      .flatMap(({ steps }) => steps)
      .filter(({ uses = '' }) => uses.startsWith('actions/upload-artifact@'))
      .map((step) => step.with ?? {});

    expect(uploads.map(({ name }) => name)).toEqual(found(/gh run download .*--name (\S+)/g));
    const uploaded = uploads.flatMap(({ path }) => String(path).trim().split('\n'));
    expect(uploaded.map((path) => basename(path))).toEqual(
      expect.arrayContaining(found(/"\$RUNNER_TEMP\/reviews\/\$1\/(\S+)"/g)),
    );
  });

  it('read only outputs that an earlier step or job sets', () => {
    const jobs = written.flatMap(jobsOf);
    const outputs = jobs.flatMap(({ steps }) =>
      steps.flatMap(({ id = '', run = '' }) =>
        [...run.matchAll(/echo "(\w+)=[^"]*"(?=.*>> "\$GITHUB_OUTPUT")/g)].map(
          ([, name = '']) => `${id}.${name}`,
        ),
      ),
    );
    const read = found(/steps\.([\w-]+\.outputs\.\w+)/g).map((each) =>
      each.replace('.outputs', ''),
    );

    expect(read.length).toBeGreaterThan(0);
    expect([...outputs].sort()).toEqual(read);
    for (const { workflow, text } of written) {
      for (const [, job = '', name = ''] of text.matchAll(/needs\.([\w-]+)\.outputs\.(\w+)/g)) {
        expect(Object.keys(workflow.jobs[job]?.outputs ?? {})).toContain(name);
      }
      for (const { needs = [] } of Object.values(workflow.jobs)) {
        expect(Object.keys(workflow.jobs)).toEqual(expect.arrayContaining([needs].flat()));
      }
    }
  });

  it('need the variable, the secret and the environments that init names, and no others', () => {
    const environments = written.flatMap(jobsOf).map(({ environment }) => environment);
    const needed = [
      ...found(/\bvars\.(\w+)/g),
      ...found(/\bsecrets\.(\w+)/g),
      ...new Set(environments.filter((each) => each !== undefined)),
    ];

    expect(
      [
        ...(message
          .split('\nOn GitHub')
          .at(-1)
          ?.matchAll(/`([\w-]+)`/g) ?? []),
      ].map(([, name]) => name),
    ).toEqual(expect.arrayContaining(needed));
    expect(needed.sort()).toEqual([
      'FLAGKEEL_API_KEY',
      'FLAGKEEL_URL',
      'flagkeel-kill',
      'flagkeel-review',
      'production',
    ]);
  });
});

describe('what init writes for GitLab', () => {
  it('is the components that come with the package, and a pipeline that includes them all', async () => {
    const other = mkdtempSync(join(tmpdir(), 'flagkeel-init-gitlab-'));
    onTestFinished(() => {
      rmSync(other, { recursive: true });
    });

    const { stdout } = await cliRun(['init', '--forge', 'gitlab', other]);

    const { include } = parse(readFileSync(join(other, '.gitlab-ci.yml'), 'utf8')) as {
      include: { local: string }[];
    };
    const files = readdirSync(join(other, '.gitlab/flagkeel'));
    expect(files).toEqual(['apply.yml', 'approve.yml', 'drift.yml', 'kill.yml', 'review.yml']);
    expect(include.map(({ local }) => local)).toEqual(
      files.map((name) => `.gitlab/flagkeel/${name}`),
    );
    expect(existsSync(join(other, '.github'))).toBe(false);
    const needs = words(stdout.slice(stdout.indexOf('\nOn GitLab'))).trim();
    expect(needs).toMatch(/^On GitLab, set /);
    expect(
      words(sectionOf(projectText('docs/review.md'), '## The keys of the workflows')),
    ).toContain(needs);
  });
});

describe.each(['github', 'gitlab'])('the bots of what init writes for %s', (forge) => {
  it('find the version of flagkeel in each file, and it is the version of the program', async () => {
    const other = mkdtempSync(join(tmpdir(), 'flagkeel-init-bots-'));
    onTestFinished(() => {
      rmSync(other, { recursive: true });
    });

    await cliRun(['init', '--forge', forge, other]);

    const { version } = JSON.parse(projectText('package.json')) as { version: string };
    const { customManagers } = JSON.parse(readFileSync(join(other, 'renovate.json'), 'utf8')) as {
      customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
    };
    const [manager] = customManagers;
    const isMeant = (path: string): boolean =>
      manager?.managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(path)) ??
      false;
    const files = readdirSync(other, { recursive: true, encoding: 'utf8' }).filter(isMeant);
    const versions = files.map((file) => {
      const text = readFileSync(join(other, file), 'utf8');
      return manager?.matchStrings.flatMap((pattern) =>
        [...text.matchAll(new RegExp(pattern, 'g'))].map((match) => match.groups?.['currentValue']),
      );
    });
    expect(files).toHaveLength(5);
    expect(versions).toEqual(files.map(() => [version]));
    expect(existsSync(join(other, '.github/dependabot.yml'))).toBe(forge === 'github');
  });
});

const words = (text: string): string => text.replaceAll(/\s+/g, ' ');

it('the place of the key is said by init in the words of docs/review.md, and the how-to refers to them', () => {
  const needs = words(message.slice(message.indexOf('\nOn GitHub'))).trim();

  expect(needs).toMatch(/^On GitHub, set /);
  expect(words(sectionOf(projectText('docs/review.md'), '## The keys of the workflows'))).toContain(
    needs,
  );
  expect(projectText('docs/how-to.md')).toContain('(review.md#the-keys-of-the-workflows)');
  expect(projectText('docs/how-to.md')).not.toContain('FLAGKEEL_API_KEY` of');
});
