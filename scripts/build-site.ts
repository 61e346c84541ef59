import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { anchorOf } from '../src/cli/code-entries.js';
import { html, htmlOf, type Html } from '../src/platform/html.js';
import { documentOf, lookOf } from '../src/platform/page.js';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** Pages that do not lie in `docs/`; the README is the first. */
const TOP_PAGES = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
];
/** What the pages show and link to as it is. */
const COPIED = ['docs/images', 'workflows', 'schemas'];

/** Lists the pages by task; the site has them in its order. */
const INDEX = 'docs/README.md';
const SEARCH = 'search.html';
/** So many sections get a list of links above them. */
const LONG_PAGE = 5;

const LOOK = lookOf('site');
const SEARCH_LOOK = lookOf('site', { hasScript: true });

/** A page of the site, by its path in the project. */
interface Page {
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/**
 * Writes the documents as HTML that needs no server and loads nothing from anywhere. Links between pages lead to pages; what a
 * page links to and the site does not have is named and not linked.
 */
export function buildSite(folder: string): void {
  const paths = [...TOP_PAGES, ...markdownIn('docs'), ...markdownIn('docs/decisions')];
  const pages = paths.map((path): Page => {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    return { path, text, title: /^# (.+)$/m.exec(text)?.[1] ?? path };
  });
  for (const page of pages) {
    const file = join(folder, placeOf(page.path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, textOf(page, pages));
  }
  writeFileSync(join(folder, SEARCH), searchPage(pages));
  for (const path of COPIED) cpSync(join(PROJECT, path), join(folder, path), { recursive: true });
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(PROJECT, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** `docs/plan.md` → `docs/plan.html`; a README is the first page of its folder. */
function placeOf(path: string): string {
  return path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

function textOf(page: Page, pages: readonly Page[]): string {
  const text = bodyOf(page, pages);
  const body = htmlOf(text.replace('</h1>', `$&${outlineOf(text)}`));
  return documentOf(LOOK, `${page.title} · flagkeel`, frameOf(page.path, body));
}

/** Links to the sections of a long page; empty for a short one. */
function outlineOf(body: string): string {
  const sections = [...body.matchAll(/<h2 id="([^"]*)">([^]*?)<\/h2>/g)];
  if (sections.length < LONG_PAGE) return '';
  const links = sections.map(
    ([, id = '', text = '']) => `<li><a href="#${id}">${plain(text)}</a></li>`,
  );
  return `<details><summary>On this page</summary><ul>${links.join('')}</ul></details>`;
}

/** The text between a search above it and the pages by task beside it, which stand below it on a telephone. */
function frameOf(path: string, body: Html): Html {
  return html`<header>
      <a href="${between(path, 'index.html')}">flagkeel</a>
      <form action="${between(path, SEARCH)}" role="search">
        <input type="search" name="q" aria-label="Search the documents" required />
        <button>Search</button>
      </form>
      <a class="below" href="#pages">All pages</a>
    </header>
    <main>${body}</main>
    <nav id="pages" aria-label="Pages by task">${groupsOf(path)}</nav>`;
}

function groupsOf(from: string): readonly Html[] {
  const [, ...groups] = readFileSync(join(PROJECT, INDEX), 'utf8').split(/^## /m);
  return groups.map((group) => {
    const links = [...group.matchAll(/^- \[([^\]]+)\]\(([^)#]+)([^)]*)\)/gm)];
    const entries = links.map(([, label = '', file = '', hash = '']) => {
      const path = normalize(join(dirname(INDEX), file));
      const current = path === from && hash === '' ? html`aria-current="page"` : html``;
      const href = between(from, placeOf(path)) + hash;
      return html`<li><a href="${href}" ${current}>${label}</a></li>`;
    });
    return html`<h2>${group.split('\n', 1)[0] ?? ''}</h2>
      <ul>
        ${entries}
      </ul>`;
  });
}

/**
 * Every section of every page with its text, so that a script finds words in them without a server. Pages are in the order of
 * the index, so that a hit in a guide stands before one in the changelog; decisions are the last.
 */
function searchPage(pages: readonly Page[]): string {
  const index = pages.find(({ path }) => path === INDEX)?.text ?? '';
  const rank = ({ path }: Page): number => {
    const at = index.indexOf(`](${relative(dirname(INDEX), path)})`);
    return at === -1 ? index.length : at;
  };
  const sections = pages
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap((page) => {
      const place = placeOf(page.path);
      const body = bodyOf(page, pages);
      const title = plain(/<h1[^>]*>([^]*?)<\/h1>/.exec(body)?.[1] ?? '');
      const [, ...parts] = body.split(/<h[1-4] id="/);
      return parts.map((part) => {
        const [, id = '', heading = '', text = ''] =
          /^([^"]*)">([^]*?)<\/h\d>([^]*)$/.exec(part) ?? [];
        const words = plain(heading);
        const name = words === title ? title : `${title} · ${words}`;
        return html`<li>
          <a href="${place}#${id}">${htmlOf(name)}</a>
          <p>${htmlOf(plain(text))}</p>
        </li>`;
      });
    });
  const found = html`<h1>Search</h1>
    <output>Every heading of the documents</output>
    <ol class="found">
      ${sections}
    </ol>`;
  return documentOf(SEARCH_LOOK, 'Search · flagkeel', frameOf(SEARCH, found));
}

/** Words of HTML, still escaped. */
function plain(text: string): string {
  const lines = text.replaceAll(/<\/?(?:a|code|em|span|strong)\b[^>]*>/g, '');
  return lines.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

function bodyOf(page: Page, pages: readonly Page[]): string {
  // Our own pages: what HTML they hold is meant.
  const markdown = new MarkdownIt({ html: true });
  const { rules } = markdown.renderer;
  rules['heading_open'] = (tokens, index, options, _, self) => {
    tokens[index]?.attrSet('id', anchorOf(tokens[index + 1]?.content ?? ''));
    return self.renderToken(tokens, index, options);
  };
  rules['table_open'] = () => '<div class="wide" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  rules['link_open'] = (tokens, index, options, _, self) => {
    const target = targetOf(String(tokens[index]?.attrGet('href') ?? ''), page, pages);
    if (target === null) return '<span>';
    tokens[index]?.attrSet('href', target);
    return self.renderToken(tokens, index, options);
  };
  // Which of the two closes is known by what was opened last: links do not nest.
  // Long lines of code scroll, so a keyboard has to reach them.
  return markdown
    .render(page.text)
    .replace(/<span>((?:(?!<span>|<\/a>)[^])*?)<\/a>/g, '<span>$1</span>')
    .replaceAll('<pre>', '<pre tabindex="0">');
}

/** Null: the site does not have it. */
function targetOf(link: string, { path }: Page, pages: readonly Page[]): string | null {
  if (/^(?:https?:|#)/.test(link)) return link;
  const [file = '', heading] = link.split('#');
  const to = normalize(join(dirname(path), file)).replace(/\/$/, '');
  const hash = heading === undefined ? '' : `#${heading}`;
  const isPage = pages.some((each) => each.path === to);
  if (isPage) return between(path, placeOf(to)) + hash;
  const isCopied = COPIED.some((each) => to.startsWith(`${each}/`));
  return isCopied && existsSync(join(PROJECT, to)) ? between(path, to) : null;
}

function between(from: string, to: string): string {
  return relative(dirname(placeOf(from)), to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(PROJECT, 'site');
  buildSite(folder);
  process.stdout.write(`wrote ${join(folder, 'index.html')}\n`);
}
