import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { anchorOf } from '../src/cli/help-document.js';

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

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1f2328, #f0f6fc); --ground: light-dark(#ffffff, #0d1117);
  --soft: light-dark(#59636e, #9ba3ad); --line: light-dark(#d1d9e0, #30363d); --link: light-dark(#0550ae, #79c0ff);
  --field: light-dark(#f6f8fa, #161b22); }
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 52rem); gap: 2rem; padding: 1rem 1.5rem; }
nav ul { list-style: none; padding: 0; margin: 0; font-size: 0.9375rem; }
a { color: var(--link); }
nav a[aria-current] { color: var(--ink); font-weight: 600; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; background: var(--field); }
code { overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; overflow-x: auto; border-radius: 6px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9375rem; }
th, td { border: 1px solid var(--line); padding: 0.375rem 0.75rem; text-align: start; vertical-align: top; }
img { max-inline-size: 100%; }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr); } }
`;

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
    writeFileSync(file, documentOf(page, pages));
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

function documentOf(page: Page, pages: readonly Page[]): string {
  const { escapeHtml } = new MarkdownIt().utils;
  const entries = pages
    .filter(({ path }) => !path.startsWith('docs/decisions/') || path.endsWith('README.md'))
    .map((each) => {
      const current = each === page ? ' aria-current="page"' : '';
      return `<li><a href="${between(page.path, placeOf(each.path))}"${current}>${escapeHtml(each.title)}</a></li>`;
    });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} · flagkeel</title><style>${STYLE}</style></head>
<body><nav aria-label="Pages"><ul>${entries.join('')}</ul></nav><main>${bodyOf(page, pages)}</main></body>
</html>
`;
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
  const html = markdown.render(page.text);
  // Long lines of code scroll, so a keyboard has to reach them.
  return html
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
