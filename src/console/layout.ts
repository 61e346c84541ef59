import { html, htmlOf, PAGE_STYLE, policyHashOf, type Html } from '../platform/html.js';
import { clean } from '../report/sanitize.js';
import type { WorkspaceRow } from '../service/store/tables.js';
import type { Session } from './sign-in.js';

/**
 * The position of a user: session, workspace and page. The workspaces are those that the key of the session sees, by
 * name; their links lead to the same page of each.
 */
export interface Place {
  readonly session: Session;
  readonly workspaces: readonly WorkspaceRow[];
  readonly workspace: WorkspaceRow;
  readonly page: 'flags' | 'segments' | 'requests' | 'log';
}

/** Widths are relative to the text, and nothing is wider than the window: on a telephone columns become rows. */
const STYLE = `${PAGE_STYLE}
.skip { position: absolute; inset-inline-start: -99rem; }
.skip:focus { position: static; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
nav [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
.bar { align-items: baseline; border-block-end: 1px solid var(--line); margin-block-end: 1rem; gap: 0.5rem 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin-block-end: 0.75rem; }
h2 { font-size: 1.125rem; overflow-wrap: anywhere; }
h3 { font-size: 0.875rem; font-weight: 600; }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem;
  margin-block-end: 1rem; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 1rem 1.5rem;
  margin-block-start: 0.75rem; }
.side section { min-inline-size: 0; }
li, p, dd { overflow-wrap: anywhere; }
.killed + svg { opacity: 0.35; } main > .soft { margin-block-end: 0.5rem; }
.killed, .wrong { color: var(--trouble); font-weight: 600; }
svg { inline-size: 100%; block-size: 0.6rem; border: 1px solid var(--soft); border-radius: 2px; margin-block: 0.25rem; }
.share0 { fill: light-dark(#2563eb, #79a8ff); } .share1 { fill: light-dark(#9ca3af, #6b7280); }
.share2 { fill: light-dark(#d97706, #e3b341); } .share3 { fill: light-dark(#059669, #56d364); }
form { margin-block: 0.5rem; } form.line { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; }
label { display: block; } input, textarea, button { font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--soft); border-radius: 6px; padding: 0.375rem 0.75rem; max-inline-size: 100%; }
textarea { inline-size: 100%; min-block-size: 5rem; } button { cursor: pointer; font-weight: 600; }
input:focus-visible, textarea:focus-visible, button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.plain { background: none; border: 0; padding: 0; color: var(--link); text-decoration: underline; font-weight: 400; }
.keys { columns: 14rem; font: 0.875em/1.6 ui-monospace, monospace; } .keys li { overflow-wrap: anywhere; }
.diff { font: 0.875em/1.5 ui-monospace, monospace; margin-block-start: 0.25rem; }
.log li { padding-block: 0.375rem; } .log > li { border-block-end: 1px solid var(--line); } .diff li { padding: 0; }
`;

/** The policy of every page: it loads nothing, runs nothing, and sends forms only to this service. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  `style-src ${policyHashOf(STYLE)}`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A whole HTML document.
 *
 * @param title our own words, or cleaned.
 */
function documentOf(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · flagkeel</title>
        ${htmlOf(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}

/** The only page for users who are not signed in. @param wrong the reason why the last try was refused. */
export function signInPage(wrong?: string): string {
  const alert = wrong === undefined ? [] : html`<p class="wrong" role="alert">${clean(wrong)}</p>`;
  return documentOf(
    'Sign in',
    html`<main class="sheet">
      <h1>Sign in</h1>
      ${alert}
      <form method="post" action="/console/sign-in">
        <label for="key">Admin API key</label>
        <p><input id="key" name="key" type="password" required autocomplete="off" size="40" /></p>
        <button>Sign in</button>
      </form>
      <p class="soft">The console shows what the key may see, for 8 hours at the most.</p>
    </main>`,
  );
}

/** A page that says why the requested one cannot be shown. */
export function refusalPage(message: string): string {
  return documentOf(
    'Not done',
    html`<main class="sheet">
      <h1>Not done</h1>
      <p class="wrong" role="alert">${clean(message)}</p>
      <p><a href="/">To the flags</a></p>
    </main>`,
  );
}

/** Path and label of each page, in the order of the links. */
const PAGES = {
  flags: ['/', 'Flags'],
  segments: ['/console/segments', 'Segments'],
  requests: ['/console/requests', 'Change requests'],
  log: ['/console/log', 'Log'],
} as const;

/** A path with its query; empty parameters are left out. */
export function linkTo(path: string, query: Readonly<Record<string, string | number>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== 0);
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const text = new URLSearchParams(texts).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A page for signed-in users. @param title our own words, or cleaned. */
export function consolePage(place: Place, title: string, body: Html): string {
  const { session, workspaces, workspace, page } = place;
  const pages = Object.entries(PAGES).map(([name, [path, words]]) =>
    linkItem(linkTo(path, { ws: workspace.id }), words, name === page),
  );
  const others = workspaces.map(({ id, name }) =>
    linkItem(linkTo(PAGES[page][0], { ws: id }), clean(name), id === workspace.id),
  );
  return documentOf(
    title,
    html`<a class="skip" href="#main">To the content</a>
      <header class="bar">
        <nav aria-label="Pages">
          <ul>
            ${pages}
          </ul>
        </nav>
        <nav aria-label="Workspaces">
          <ul>
            ${others}
          </ul>
        </nav>
        <form method="post" action="/console/sign-out">
          <span class="soft">Key <bdi>${clean(session.key.name)}</bdi></span>
          ${tokenField(session)} <button class="plain">Sign out</button>
        </form>
      </header>
      <main id="main">
        <h1>${title}</h1>
        ${body}
      </main>`,
  );
}

/** A link to a page. The link to the current page is marked as such. */
function linkItem(href: string, words: string, isCurrent: boolean): Html {
  const current = isCurrent ? html`aria-current="page"` : html``;
  return html`<li><a href="${href}" ${current}>${words}</a></li>`;
}

/**
 * A hidden field for every form that writes. It proves that the form comes from a page of this session, see
 * `SignIn.require`.
 */
export function tokenField({ formToken }: Session): Html {
  return html`<input type="hidden" name="token" value="${formToken}" />`;
}

/**
 * A search that works without a script: the address holds the search text, so that it can be bookmarked and shared.
 *
 * @param kept further parameters of the address.
 */
export function searchForm(
  path: string,
  words: string,
  q: string,
  kept: Readonly<Record<string, string>>,
): Html {
  const fields = Object.entries(kept).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form class="line" role="search" method="get" action="${path}">
    ${fields}
    <label>${words}<br /><input type="search" name="q" value="${q}" /></label>
    <button>Search</button>
  </form>`;
}

/**
 * Links to other parts of a list.
 *
 * @param links label → address; null if there is no such part, and no link.
 */
export function pager(links: Readonly<Record<string, string | null>>): Html {
  const items = Object.entries(links).flatMap(([words, href]) =>
    href === null ? [] : [html`<li><a href="${href}">${words}</a></li>`],
  );
  return items.length === 0
    ? html``
    : html`<nav aria-label="More">
        <ul>
          ${items}
        </ul>
      </nav>`;
}
