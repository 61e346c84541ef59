import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { brokenLinks, projectText } from './page.js';

describe.each([
  'docs/getting-started.md',
  'docs/how-to.md',
  'docs/import.md',
  'docs/reference.md',
  'docs/comparison.md',
  'docs/glossary.md',
  'docs/specs.md',
  'docs/lint.md',
  'docs/plan.md',
  'docs/operations.md',
  'docs/testing.md',
  'docs/model.md',
  'docs/container.md',
  'docs/deploy.md',
  'docs/diagnostics.md',
  'docs/plan-output.md',
  'docs/releases.md',
  'docs/review.md',
])('%s', (path) => {
  it('links to headings and files that there are', () => {
    expect(brokenLinks(path)).toEqual([]);
  });
});

const PAGES = readdirSync(new URL('../../../docs/', import.meta.url)).filter((name) =>
  name.endsWith('.md'),
);

it.each(PAGES)('docs/%s says of what is not published that it is not', (name) => {
  const text = projectText(`docs/${name}`);

  if (/OWNER\/|flagkeel@v?\d|\bnpx flagkeel/.test(text) && name !== 'releases.md') {
    expect(text).toContain('](releases.md)');
  }
});

it('keeps no picture that no page shows', () => {
  const pages = PAGES.map((name) => projectText(`docs/${name}`)).join('\n');
  const pictures = readdirSync(new URL('../../../docs/images/', import.meta.url));

  expect(pictures.filter((name) => !pages.includes(`(images/${name})`))).toEqual([]);
});
