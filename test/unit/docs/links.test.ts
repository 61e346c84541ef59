import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { brokenLinks, projectText } from './page.js';

const PAGES = readdirSync(new URL('../../../docs/', import.meta.url)).filter((name) =>
  name.endsWith('.md'),
);
const ROOT_PAGES = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'];

it.each([...ROOT_PAGES, ...PAGES.map((name) => `docs/${name}`)])(
  '%s links to headings and files that there are',
  (path) => {
    expect(brokenLinks(path)).toEqual([]);
  },
);

it.each(PAGES)('docs/%s says of what is not published that it is not', (name) => {
  const text = projectText(`docs/${name}`);

  if (/OWNER\/|flagkeel@v?\d|\bnpx flagkeel/.test(text) && name !== 'releases.md') {
    expect(text).toContain('](releases.md)');
  }
});

it('lists every page in the index by task', () => {
  const index = projectText('docs/README.md');

  expect(PAGES.filter((name) => name !== 'README.md' && !index.includes(`](${name})`))).toEqual([]);
});

it('keeps no picture that no page shows', () => {
  const pages = PAGES.map((name) => projectText(`docs/${name}`)).join('\n');
  const pictures = readdirSync(new URL('../../../docs/images/', import.meta.url));

  expect(pictures.filter((name) => !pages.includes(`(images/${name})`))).toEqual([]);
});
