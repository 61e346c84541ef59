import { html, type Html } from '../platform/html.js';
import { documentOf, lookOf } from '../platform/page.js';
import { clean } from '../report/sanitize.js';
import type { WorkspaceRow, Db, EnvironmentRow } from '../service/store/tables.js';
import { notFound } from '../service/http/problem.js';
import { listEnvironments, listWorkspaces } from '../service/store/workspaces.js';
import type { GivenNote, Page } from '../service/rules/members.js';
import { find } from '../service/http/place.js';
import { isVisible, type ApiRequest } from '../service/http/endpoint.js';
import type { Session } from './sign-in.js';

/** Parameters of the address or of a form. If a name occurs twice, the first value counts. */
export type Given = URLSearchParams;

/**
 * One request for a page, which reads one consistent state of the store. The workspaces are those that the key of the
 * session sees, by name; their links lead to the same page of each.
 */
export interface Visit {
  readonly db: Db;
  readonly session: Session;
  readonly given: Given;
  /** The request in the form that the rules of the service check. */
  readonly request: ApiRequest;
  readonly workspaces: readonly WorkspaceRow[];
  readonly workspace: WorkspaceRow;
  /** The part of the navigation that the page belongs to. */
  readonly page: keyof typeof PAGES;
}

/** In the workspace of the address, or the first that the key sees. */
export async function visitOf(asked: Omit<Visit, 'workspaces' | 'workspace'>): Promise<Visit> {
  const { db, given, request } = asked;
  const workspaces = await listWorkspaces(db, request.caller.scope.workspaces);
  const [first] = workspaces;
  if (first === undefined) throw notFound('workspace', 'of this key');
  const workspace = given.get('ws') ? (await find('workspace', db, request)).workspace : first;
  return { ...asked, workspaces, workspace };
}

/** The environments that the key sees: production first, and of the others the newest. */
export async function environmentsOf(visit: Visit): Promise<readonly EnvironmentRow[]> {
  const { db, request, workspace } = visit;
  const { environments } = request.caller.scope;
  return (await listEnvironments(db, workspace.id))
    .filter(({ id }) => isVisible(environments, id))
    .toReversed()
    .toSorted((a, b) => b.production - a.production);
}

/** Anything but a whole number counts as 0. */
export function numberGiven({ given }: Visit, name: string): number {
  const text = given.get(name) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : 0;
}

const LOOK = lookOf('console', { allows: { 'form-action': "'self'" } });

/** The policy of every page: it loads nothing, runs nothing, and sends forms only to this service. */
export const CONSOLE_POLICY = LOOK.policy;

/** @param title our own words, or cleaned. */
function pageOf(title: string, body: Html): string {
  return documentOf(LOOK, `${title} · flagkeel`, body);
}

/** @param wrong the reason why the last try was refused. */
export function signInPage(wrong?: string): string {
  const alert = wrong === undefined ? [] : html`<p class="wrong" role="alert">${clean(wrong)}</p>`;
  return pageOf(
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

export function refusalPage(message: string): string {
  return pageOf(
    'Not done',
    html`<main class="sheet">
      <h1>Not done</h1>
      <p class="wrong" role="alert">${clean(message)}</p>
      <p><a href="/">To the flags</a></p>
    </main>`,
  );
}

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

/** @param title our own words, or cleaned. */
export function consolePage(visit: Visit, title: string, body: Html): string {
  const { session, workspaces, workspace, page } = visit;
  const pages = Object.entries(PAGES).map(([name, [path, words]]) =>
    linkItem(linkTo(path, { ws: workspace.id }), words, name === page),
  );
  const others = workspaces.map(({ id, name }) =>
    linkItem(linkTo(PAGES[page][0], { ws: id }), clean(name), id === workspace.id),
  );
  return pageOf(
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
          ${hiddenFields({ token: session.formToken })} <button class="plain">Sign out</button>
        </form>
      </header>
      <main id="main">
        <h1>${title}</h1>
        ${body}
      </main>`,
  );
}

function linkItem(href: string, words: string, isCurrent: boolean): Html {
  const current = isCurrent ? html`aria-current="page"` : html``;
  return html`<li><a href="${href}" ${current}>${words}</a></li>`;
}

/**
 * Every form that writes has the session's `token`. It proves that the form comes from a page of this session, see
 * `SignIn.require`.
 */
export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

/** A search that works without a script: the address holds the search text, so that it can be bookmarked and shared. */
export function searchForm(
  path: string,
  words: string,
  q: string,
  kept: Readonly<Record<string, string>>,
): Html {
  return html`<form class="line" role="search" method="get" action="${path}">
    ${hiddenFields(kept)}
    <label>${words}<br /><input type="search" name="q" value="${q}" /></label>
    <button>Search</button>
  </form>`;
}

/** @param links label → address; null if there is no such part, and no link. */
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

/** Links for lists that are short or sorted by name, so that skipping through them by numbers makes sense. */
export function offsetPager(
  path: string,
  ws: string,
  { q, offset, limit, totalCount }: Page & { readonly q: string; readonly totalCount: number },
): Html {
  const at = (to: number): string => linkTo(path, { ws, q, offset: to });
  return pager({
    Previous: offset === 0 ? null : at(Math.max(0, offset - limit)),
    Next: offset + limit < totalCount ? at(offset + limit) : null,
  });
}

export function timeText(milliseconds: number): Html {
  const time = new Date(milliseconds).toISOString();
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A text of others, cleaned, with its line breaks. */
export function linesOfText(text: string): Html {
  const lines = text.split(/\r\n|[\r\n]/).map(clean);
  return html`${lines.map((line, index) => (index === 0 ? html`${line}` : html`<br />${line}`))}`;
}

export function wordsOf({ title, comment }: GivenNote): Html {
  const words = [title, comment].filter((text) => text !== null).join(': ');
  return words === '' ? html`` : html`<p>${linesOfText(words)}</p>`;
}
