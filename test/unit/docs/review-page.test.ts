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

interface Job {
  readonly environment?: string | { readonly name: string };
  readonly needs?: string;
  readonly if?: string;
  readonly concurrency?: object;
  readonly resource_group?: string;
  readonly interruptible?: boolean;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Long options of lines that call the program. */
function optionsIn(text: string): string[] {
  const own = text.replaceAll(/.*npm install.*/g, '');
  const lines = own.match(/flagkeel(?:@\S+)?"? [^\n]*/g) ?? [];
  return lines.flatMap((line) => line.match(/--[a-z][a-z-]+/g) ?? []);
}

it('docs/review.md links every workflow that is there', () => {
  expect([...WORKFLOWS, ...TEMPLATES].filter((path) => !PAGE.includes(path))).toEqual([]);
});

describe.each([...WORKFLOWS, ...TEMPLATES, '.pre-commit-hooks.yaml'])('%s', (path) => {
  const text = projectText(path);

  it('is YAML, and calls the program with options that there are', () => {
    expect([...parseAllDocuments(text)].flatMap(({ errors }) => errors)).toEqual([]);
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
});

it('a comment starts no job that takes a place in a queue, unless its author may write', () => {
  const started = WORKFLOWS.map((path) => parse(projectText(path)) as { on: object; jobs: object })
    .filter(({ on }) => 'issue_comment' in on)
    .map(({ jobs }) => jobs as Readonly<Record<string, Job>>);

  expect(started).toHaveLength(1);
  for (const jobs of started) {
    const queued = Object.values(jobs).filter((job) => job.concurrency ?? job.environment);
    expect(queued.length).toBeGreaterThan(0);
    for (const { needs = '', if: condition } of queued) {
      expect(jobs[needs]).toBeDefined();
      expect(condition).toBe(
        `needs.${needs}.outputs.permission == 'write' || needs.${needs}.outputs.permission == 'admin'`,
      );
    }
  }
});

it('a pull request is reviewed again where it gets another target branch', () => {
  const { on } = parse(projectText('workflows/flagkeel-review.yml')) as Reviewing;

  expect(on.pull_request.types.toSorted()).toEqual(['edited', 'opened', 'reopened', 'synchronize']);
});

interface Reviewing {
  readonly on: { readonly pull_request: { readonly types: readonly string[] } };
}

interface Component {
  readonly spec: { readonly inputs: Readonly<Record<string, { readonly default: string }>> };
}

it.each(TEMPLATES)('variables of %s are texts, also where no input is given', (path) => {
  const text = projectText(path);
  const { spec } = parseAllDocuments(text)[0]?.toJS() as Component;
  // GitLab puts inputs into the text before it reads the YAML, and refuses a variable without a value.
  const filled = text.replaceAll(
    /\$\[\[ inputs\.(\w+) \]\]/g,
    (_, input: string) => spec.inputs[input]?.default ?? '',
  );
  const jobs = Object.values(parseAllDocuments(filled)[1]?.toJS() as Record<string, Job>);

  expect(jobs).toHaveLength(1);
  for (const { variables } of jobs) {
    expect(variables).toMatchObject({ FLAGKEEL_URL: '', REVIEWED: '.' });
    expect(Object.values(variables ?? {}).filter((each) => typeof each !== 'string')).toEqual([]);
  }
});

it('jobs of the templates that write wait for each other, and none is interrupted', () => {
  const writing = TEMPLATES.flatMap((path) => {
    const [, jobs] = parseAllDocuments(projectText(path));
    const all = Object.values((jobs?.toJS() ?? {}) as Record<string, Job>);
    return all.filter(({ environment }) => environment === 'production');
  });

  expect(writing.length).toBeGreaterThan(0);
  for (const { resource_group: group, interruptible = false } of writing) {
    expect({ group, interruptible }).toEqual({ group: 'flagkeel-apply', interruptible: false });
  }
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
