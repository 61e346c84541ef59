import { html, type Html } from '../../platform/html.js';
import { clean } from '../../report/sanitize.js';
import { plural, shortSha } from '../../report/values.js';
import { repositoryAt } from '../../forge/open.js';
import type { Level } from '../health.js';
import type { Trigger } from '../view.js';
import { UNIT_MS } from '../../platform/clock.js';
import { documentOf, lookOf } from '../../platform/page.js';

const LONGEST = 200;

/** Untrusted text on one line, cut to a length. Shows control characters, and isolates the direction of the text. */
export function untrusted(text: string, longest = LONGEST): Html {
  return html`<bdi>${shortened(text, longest)}</bdi>`;
}

export function shortened(text: string, longest = LONGEST): string {
  const characters = Array.from(clean(text));
  if (characters.length <= longest) return characters.join('');
  return `${characters.slice(0, longest).join('')}…`;
}

export function commitOf(commit: string, location = ''): Html {
  const short = html`<code>${shortSha(clean(commit))}</code>`;
  return linkTo(forgePages(location)?.commit(commit) ?? null, short);
}

/** With a link to the pull request that the subject names, where the source is on a forge. */
export function subjectOf(subject: string, location = ''): Html {
  const page = forgePages(location)?.pullRequest(subject) ?? null;
  const [, number] = page === null ? [] : (/(?<!\d)(\d+)$/.exec(page) ?? []);
  if (page === null || number === undefined) return untrusted(subject);
  return html`${untrusted(subject)} <a href="${page}">pull request ${number}</a>`;
}

export function linkTo(page: string | null, words: Html): Html {
  return page === null ? words : html`<a href="${page}">${words}</a>`;
}

export type Fact = readonly [name: string, value: Html] | false;

export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="facts">
    ${facts
      .filter((fact) => fact !== false)
      .map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
  </dl>`;
}

/** Text such as `14:03 UTC, 2 min ago`, with the date unless it is today. */
export function moment(iso: string, now: number): Html {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return untrusted(iso);
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${clockText(text, now)}, ${distance(at - now)}</time>`;
}

/** Text such as `14:03 UTC`, with the date unless it is today. @param iso a time in UTC. */
export function clockText(iso: string, now: number): string {
  const today = new Date(now).toISOString().slice(0, 10);
  const day = iso.startsWith(today) ? '' : `${iso.slice(0, 10)} `;
  return `${day}${iso.slice(11, 16)} UTC`;
}

function distance(ms: number): string {
  const size = Math.abs(ms);
  if (size < UNIT_MS.m) return ms > 0 ? 'in a moment' : 'just now';
  const text = sizeText(size);
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

function sizeText(ms: number): string {
  if (ms < UNIT_MS.h) return `${String(Math.floor(ms / UNIT_MS.m))} min`;
  if (ms < 2 * UNIT_MS.d) return `${String(Math.floor(ms / UNIT_MS.h))} h`;
  return plural(Math.floor(ms / UNIT_MS.d), 'day');
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${String(Math.round(ms))} ms`;
  if (ms < UNIT_MS.m) return `${(ms / 1_000).toFixed(1)} s`;
  return sizeText(ms);
}

const TRIGGERS: Readonly<Record<Trigger, string>> = {
  start: 'start',
  files: 'changed files',
  commit: 'new commit',
  schedule: 'schedule',
  kill: 'kill',
  webhook: 'webhook',
  request: 'request',
  signal: 'signal',
  retry: 'retry',
  due: 'a moment that was waited for',
  adopt: 'adoption',
};

export function triggerText(triggers: readonly Trigger[]): string {
  return triggers.map((trigger) => TRIGGERS[trigger]).join(', ');
}

const MARKS: Readonly<Record<Level, string>> = {
  fine: '✓',
  busy: '…',
  attention: '!',
  trouble: '✗',
};

/** Hidden from screen readers, because the text beside it has the same content. */
export function mark(level: Level): Html {
  return html`<span class="mark ${level}" aria-hidden="true">${MARKS[level]}</span>`;
}

interface ForgePages {
  readonly commit: (commit: string) => string | null;
  /** @param file relative to the config directory; may be any text. */
  readonly file: (commit: string, file: string, line: number | null) => string | null;
  readonly pullRequest: (subject: string) => string | null;
}

/** Parts of the addresses of a forge, and how it names merges. */
interface Forge {
  readonly commit: string;
  readonly file: string;
  readonly pullRequest: string;
  /** Matches the subject of a merge commit; the group is the number. */
  readonly merged: RegExp;
}

/** By the first word of the host. */
const FORGES: Readonly<Record<string, Forge>> = {
  github: {
    commit: '/commit/',
    file: '/blob/',
    pullRequest: '/pull/',
    merged: /\(#(\d{1,9})\)$|^Merge pull request #(\d{1,9}) /,
  },
  gitlab: {
    commit: '/-/commit/',
    file: '/-/blob/',
    pullRequest: '/-/merge_requests/',
    // GitLab's merge commits name the request only in the body, which is not available here.
    merged: /\(!(\d{1,9})\)$/,
  },
};

const COMMIT = /^[0-9a-f]{40,64}$/;

export function forgePages(location: string): ForgePages | null {
  const place = repositoryAt(location);
  const forge = FORGES[place?.host.split('.')[0] ?? ''];
  if (!place?.origin || forge === undefined) return null;
  const { origin, path: name, folder } = place;
  const repository = `${origin}/${name}`;
  return {
    commit: (commit) => (COMMIT.test(commit) ? repository + forge.commit + commit : null),
    file: (commit, file, line) => {
      if (!COMMIT.test(commit)) return null;
      const path = [...folder.split('/'), ...file.split('/')].filter((part) => part !== '');
      const at = line === null ? '' : `#L${String(line)}`;
      return [repository, forge.file, commit, '/', path.map(encodeURIComponent).join('/'), at].join(
        '',
      );
    },
    pullRequest: (subject) => {
      const [, squashed, merged] = forge.merged.exec(subject) ?? [];
      const number = squashed ?? merged;
      return number === undefined ? null : repository + forge.pullRequest + number;
    },
  };
}

export const LOOK = lookOf('status', { hasScript: true, allows: { 'connect-src': "'self'" } });

/** A page below the status page that needs no script. @param up its way there. */
export function subPage(title: string, up: string, main: Html): string {
  return documentOf(
    { ...LOOK, script: '' },
    `${title} · flagkeel`,
    html`<header class="bar">
        <nav><a href="${up}">Status</a></nav>
      </header>
      <main>${main}</main>`,
  );
}
