import { expect, it } from 'vitest';
import { commandFiles, declarationsOf, projectText } from './page.js';

/** The commands that a page speaks of. Of commands in blocks of code, `code-blocks.test.ts` takes care. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'ramps.md': ['reconcile', 'review'],
  'review.md': commandFiles(),
  'watch.md': ['watch'],
  'watch-operations.md': ['watch', 'reconcile'],
  'windows.md': ['reconcile', 'review'],
};

it.each(Object.entries(PAGES))('docs/%s names only options that there are', (page, commands) => {
  const source = declarationsOf(...commands);
  const text = projectText(`docs/${page}`).replaceAll(/^```[^]*?^```$/gm, '');
  const named = text.match(/--[a-z][a-z-]+/g) ?? [];

  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((option) => !new RegExp(`'${option}[ ']`).test(source))).toEqual([]);
});
