import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { projectText } from './page.js';

const PAGE = projectText('docs/review.md');
const COMMANDS = projectText('src/cli.ts');
const FOLDER = new URL('../../../docs/workflows/', import.meta.url);
const WORKFLOWS = readdirSync(FOLDER).map((name) => `docs/workflows/${name}`);

/** Long options of lines that call the program. */
function optionsIn(text: string): string[] {
  const own = text.replaceAll(/.*npm install.*/g, '');
  return [...own.matchAll(/flaghoist(?:@\S+)?"? [^\n]*/g)].flatMap(([line]) => [
    ...(line.match(/--[a-z][a-z-]+/g) ?? []),
  ]);
}

describe('docs/review.md', () => {
  it('names only options that there are', () => {
    const named = [...new Set(PAGE.match(/--[a-z][a-z-]+/g))];

    expect(named.length).toBeGreaterThan(10);
    expect(
      named.filter(
        (option) => !COMMANDS.includes(`'${option} `) && !COMMANDS.includes(`'${option}'`),
      ),
    ).toEqual([]);
  });

  it('links every workflow that is there', () => {
    expect(WORKFLOWS.filter((path) => !PAGE.includes(path))).toEqual([]);
  });
});

describe.each([...WORKFLOWS, 'templates/review.yml', '.pre-commit-hooks.yaml'])('%s', (path) => {
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
