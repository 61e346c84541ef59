import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cliRun } from '../../support/terminal.js';
import { projectText, sectionOf } from '../docs/page.js';

interface Job {
  readonly environment?: string;
  readonly steps: readonly { uses?: string; with?: { name?: string } }[];
}

interface Written {
  readonly file: string;
  readonly text: string;
  readonly workflow: { readonly name: string; readonly jobs: Readonly<Record<string, Job>> };
}

/** What init wrote for a forge, and printed. */
const made: Record<string, { directory: string; message: string }> = {};
let written: Written[];

beforeAll(async () => {
  for (const forge of ['github', 'gitlab']) {
    const directory = mkdtempSync(join(tmpdir(), 'flagkeel-init-workflows-'));
    const { stdout } = await cliRun(['init', '--forge', forge, directory]);
    made[forge] = { directory, message: words(stdout.slice(stdout.indexOf('\nOn Git'))).trim() };
  }
  const folder = join(inForge('github').directory, '.github/workflows');
  written = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return { file, text, workflow: parse(text) as Written['workflow'] };
  });
});

afterAll(() => {
  for (const { directory } of Object.values(made)) rmSync(directory, { recursive: true });
});

function inForge(forge: string): { directory: string; message: string } {
  return made[forge] ?? { directory: '-', message: '' };
}

const words = (text: string): string => text.replaceAll(/\s+/g, ' ');

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
  it('are those that the documents show, with names of their own, and name each other by their files', () => {
    const named = found(/(?<![\w/.-])([\w-]+\.ya?ml)\b/g).filter(
      (file) => file !== 'flagkeel.yaml',
    );

    expect(written.map(({ file }) => file)).toEqual(
      ['apply', 'approve', 'drift', 'kill', 'review'].map((name) => `flagkeel-${name}.yml`),
    );
    for (const { file, text } of written) expect(text).toBe(projectText(`workflows/${file}`));
    expect(named).toContain('flagkeel-review.yml');
    expect(written.map(({ file }) => file)).toEqual(expect.arrayContaining(named));
    expect(new Set(written.map(({ workflow }) => workflow.name)).size).toBe(5);
  });

  it('download only artifacts that one of them uploads', () => {
    const uploads = written
      .flatMap(jobsOf)
      .flatMap(({ steps }) => steps)
      .filter(({ uses = '' }) => uses.startsWith('actions/upload-artifact@'));

    expect(uploads.map((step) => step.with?.name)).toEqual(
      found(/gh run download .*--name (\S+)/g),
    );
  });

  it('need the variable, the secret and the environments that init names, and no others', () => {
    const environments = written.flatMap(jobsOf).map(({ environment }) => environment);
    const needed = [
      ...found(/\bvars\.(\w+)/g),
      ...found(/\bsecrets\.(\w+)/g),
      ...new Set(environments.filter((each) => each !== undefined)),
    ];

    const said = [...inForge('github').message.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
    expect(said).toEqual(expect.arrayContaining(needed));
    expect(needed.sort()).toEqual([
      'FLAGKEEL_API_KEY',
      'FLAGKEEL_URL',
      'flagkeel-kill',
      'flagkeel-review',
      'production',
    ]);
  });
});

it('gives GitLab the components that come with the package, and a pipeline that includes them all', () => {
  const { directory } = inForge('gitlab');
  const { include } = parse(readFileSync(join(directory, '.gitlab-ci.yml'), 'utf8')) as {
    include: { local: string }[];
  };
  const files = ['apply.yml', 'approve.yml', 'drift.yml', 'kill.yml', 'review.yml'];

  expect(readdirSync(join(directory, '.gitlab/flagkeel'))).toEqual(files);
  expect(include.map(({ local }) => local)).toEqual(
    files.map((name) => `.gitlab/flagkeel/${name}`),
  );
  expect(existsSync(join(directory, '.github'))).toBe(false);
});

describe.each(['github', 'gitlab'])('what init writes for %s', (forge) => {
  it('has bots that find the version of flagkeel in each file, and it is that of the program', () => {
    const { directory } = inForge(forge);
    const { version } = JSON.parse(projectText('package.json')) as { version: string };
    const renovate = readFileSync(join(directory, 'renovate.json'), 'utf8');
    const { customManagers } = JSON.parse(renovate) as {
      customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
    };
    const { managerFilePatterns = [], matchStrings = [] } = customManagers[0] ?? {};
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
      managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(path)),
    );
    const versions = files.map((file) => {
      const text = readFileSync(join(directory, file), 'utf8');
      return matchStrings.flatMap((pattern) =>
        [...text.matchAll(new RegExp(pattern, 'g'))].map((match) => match.groups?.['currentValue']),
      );
    });

    expect(files).toHaveLength(5);
    expect(versions).toEqual(files.map(() => [version]));
    expect(existsSync(join(directory, '.github/dependabot.yml'))).toBe(forge === 'github');
    expect(existsSync(join(directory, '.gitlab-ci.yml'))).toBe(forge === 'gitlab');
  });

  it('says where the keys go in the words of docs/review.md, to which the how-to refers', () => {
    const { message } = inForge(forge);
    const page = words(sectionOf(projectText('docs/review.md'), '## The keys of the workflows'));

    expect(message).toMatch(/^On Git(?:Hub|Lab), set /);
    expect(page).toContain(message);
    expect(projectText('docs/how-to.md')).toContain('(review.md#the-keys-of-the-workflows)');
    expect(projectText('docs/how-to.md')).not.toContain('FLAGKEEL_API_KEY` of');
  });
});
