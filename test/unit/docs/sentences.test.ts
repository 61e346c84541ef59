import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectText } from './page.js';

const WORDS = 30;

/** Sentences of a page, cells of tables included and code left out. A code or a link in a sentence is a word. */
function sentencesOf(page: string): string[] {
  const text = page
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/ \| |^\|.*?\| |^\s*(?:[-*]|\d+\.) |^#.*$/gm, '\n\n');
  return text.split(/\n\s*\n|(?<=[.!?][)"”]?)\s+/).map((each) => each.replaceAll(/\s+/g, ' '));
}

it('has at most one long sentence in two hundred, on all pages for readers', () => {
  const pages = readdirSync(join(import.meta.dirname, '../../../docs'), { recursive: true });
  const paths = pages.map((name) => `docs/${String(name)}`).filter((path) => path.endsWith('.md'));
  const sentences = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...paths,
  ].flatMap((path) => sentencesOf(projectText(path)).map((text) => ({ path, text })));
  const long = sentences.filter(({ text }) => text.split(' ').length > WORDS);

  expect(sentences.length).toBeGreaterThan(2_000);
  expect(long.length <= sentences.length / 200 ? [] : long).toEqual([]);
});
