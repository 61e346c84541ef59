import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commandFiles, declarationsOf, projectText } from './page.js';

const PAGE = projectText('docs/review.md');
const COMMANDS = declarationsOf(...commandFiles());
const FOLDER = new URL('../../../workflows/', import.meta.url);
const WORKFLOWS = readdirSync(FOLDER).map((name) => `workflows/${name}`);
const TEMPLATES = readdirSync(new URL('../../../templates/', import.meta.url)).map(
  (name) => `templates/${name}`,
);

/** Long options of lines that call the program. */
function optionsIn(text: string): string[] {
  const own = text.replaceAll(/.*npm install.*/g, '');
  return [...own.matchAll(/flagkeel(?:@\S+)?"? [^\n]*/g)].flatMap(([line]) => [
    ...(line.match(/--[a-z][a-z-]+/g) ?? []),
  ]);
}

describe('docs/review.md', () => {
  it('links every workflow that is there', () => {
    expect([...WORKFLOWS, ...TEMPLATES].filter((path) => !PAGE.includes(path))).toEqual([]);
  });
});

describe.each([...WORKFLOWS, ...TEMPLATES, '.pre-commit-hooks.yaml'])('%s', (path) => {
  const text = projectText(path);

  it('is YAML', () => {
    const documents = parseAllDocuments(text);

    expect(Array.isArray(documents) ? documents.flatMap(({ errors }) => errors) : []).toEqual([]);
  });

  it('calls the program with options that there are', () => {
    expect(optionsIn(text).filter((option) => !COMMANDS.includes(`'${option}`))).toEqual([]);
  });

  it('takes the program from outside the checkout, where no commit can choose another', () => {
    expect(text).not.toContain('npx');
    for (const [line] of text.matchAll(/.*npm install.*/g)) {
      expect(`${text.slice(0, text.indexOf(line))}${line}`).toMatch(
        /working-directory: \$\{\{ runner\.temp \}\}\n.*$|\(cd \/tmp && .*$/,
      );
    }
  });

  it('lets nothing that a pull request names into a script', () => {
    const scripts = [...text.matchAll(/run: \|?([^]*?)(?=\n {6}- |$)/g)].map(
      ([, script]) => script,
    );

    expect(
      scripts.filter((script) =>
        /\$\{\{[^}]*(?:event|head_ref|title|body)/.test((script ?? '').replace(/env:[^]*/, '')),
      ),
    ).toEqual([]);
  });
});

interface Job {
  readonly environment?: string;
  readonly steps: readonly unknown[];
}

describe.each(WORKFLOWS)('%s', (path) => {
  const text = projectText(path);
  const { jobs } = parse(text) as { jobs: Readonly<Record<string, Job>> };

  it('pins every action to a commit, and says which version that is', () => {
    const used = [...text.matchAll(/^ *- uses: (.*)/gm)].map(([, action]) => action);

    expect(used.length).toBeGreaterThan(0);
    expect(
      used.filter((each) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(each ?? '')),
    ).toEqual([]);
  });

  it('gives the key only to jobs of an environment that can be protected', () => {
    const keyed = Object.values(jobs).filter((job) =>
      JSON.stringify(job).includes('secrets.FLAGKEEL_API_KEY'),
    );

    expect(keyed.length).toBeGreaterThan(0);
    expect(keyed.filter(({ environment }) => environment === undefined)).toEqual([]);
  });
});

describe('the plans that are applied', () => {
  const apply = projectText('workflows/flagkeel-apply.yml');
  const review = projectText('workflows/flagkeel-review.yml');

  it('come from no comment, which any workflow of the same account may write', () => {
    expect(apply).not.toMatch(/\/comments|github-actions\[bot\]/);
  });

  it('come from what the review workflow kept, and from no run of a fork', () => {
    const artifact = 'flagkeel-review';
    expect(review).toContain(
      `name: ${artifact}\n          path: |\n            \${{ runner.temp }}/flagkeel-plan.json`,
    );
    expect(apply).toContain('REVIEW: flagkeel-review.yml');
    expect(apply).toContain(`--name ${artifact} `);
    expect(apply).toContain('.head_repository.full_name == env.GITHUB_REPOSITORY');
  });
});

it.each(WORKFLOWS)('%s leaves no credentials in the checkout', (path) => {
  const text = projectText(path);
  const checkouts = text.match(/uses: actions\/checkout@/g) ?? [];

  expect(checkouts.length).toBeGreaterThan(0);
  expect(text.match(/persist-credentials: false/g)).toHaveLength(checkouts.length);
});
