import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { anchorOf } from '../src/cli/help-document.js';
import { html, htmlOf } from '../src/platform/html.js';
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

const LOOK = lookOf('site');

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
  const entries = pages
    .filter(({ path }) => !path.startsWith('docs/decisions/') || path.endsWith('README.md'))
    .map((each) => {
      const current = each === page ? html`aria-current="page"` : html``;
      const href = between(page.path, placeOf(each.path));
      return html`<li><a href="${href}" ${current}>${each.title}</a></li>`;
    });
  return documentOf(
    LOOK,
    `${page.title} · flagkeel`,
    html`<nav aria-label="Pages">
        <ul>
          ${entries}
        </ul>
      </nav>
      <main>${htmlOf(bodyOf(page, pages))}</main>`,
  );
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
