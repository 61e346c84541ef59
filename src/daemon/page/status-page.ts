import { html, type Html } from '../../platform/html.js';
import { tableOf } from '../../report/html/parts.js';
import { documentOf } from '../../platform/page.js';
import { progressText } from '../../report/progress.js';
import { headlineText, whyText } from '../../report/view/verdict.js';
import {
  healthOf,
  LEVEL_OF,
  notApplied,
  TROUBLES,
  verdictOver,
  type Verdict,
  type EnvironmentHealth,
  type Level,
  type SourceHealth,
} from '../health.js';
import type { CommitView, DaemonView, Override, SourceView } from '../view.js';
import { commitOf, mark, moment, subjectOf, untrusted, factList, LOOK } from './phrases.js';
import { buttonBar, CONFIRMATION, PANEL, approvalEvidence } from './buttons.js';
import {
  diagnosticList,
  invalidKillList,
  openLists,
  orderedKillList,
  standingList,
  unmanagedList,
} from './object-lists.js';
import { flagMatrix } from './matrix.js';
import { runList } from './runs.js';

export function statusPage(view: DaemonView, at: PageMoment): string {
  const { now } = at;
  const sources = view.sources().map((source) => ({ source, health: healthOf(source) }));
  const verdict = verdictOver(
    sources.map(({ source, health }) => ({ name: source.name, verdict: health.verdict })),
  );
  return documentOf(
    LOOK,
    `${verdict.headline} · flagkeel`,
    html`<header class="bar">
        <span><strong>flagkeel</strong> <span class="soft">${view.version}</span></span>
        <span class="soft"
          ><span id="as-of">${asOf(now)}</span> · <span id="live">as loaded</span></span
        >
      </header>
      <main>
        ${verdictPanel(verdict)}
        <div id="sources" data-parts>
          ${sources.map(({ source, health }) => sourceArticle(source, health, at))}
        </div>
        ${at.takesRequests ? CONFIRMATION : []} ${PANEL}
      </main>
      <footer class="soft">
        Up since ${moment(view.startedAt, now)}. For programs: <a href="status">status</a>,
        <a href="metrics">metrics</a>, <a href="readyz">readiness</a>.
      </footer>`,
  );
}

function asOf(now: number): Html {
  const text = new Date(now).toISOString();
  return html`as of <time datetime="${text}">${text.slice(11, 19)} UTC</time>`;
}

/** A status region that screen readers announce on each change, so it must not contain relative times. */
function verdictPanel({ level, headline, detail }: Verdict): Html {
  return html`<div id="verdict" class="sheet verdict ${level}" role="status">
    ${mark(level)}
    <div>
      <h1>${headline}</h1>
      ${detail === null ? [] : html`<p>${untrusted(detail)}</p>`}
    </div>
  </div>`;
}

interface PageMoment {
  readonly now: number;
  /** Whether tokens exist, so that the daemon answers buttons. */
  readonly takesRequests: boolean;
}

function sourceArticle(
  source: SourceView,
  { verdict, environments }: SourceHealth,
  { now, takesRequests }: PageMoment,
): Html {
  const heading = `source-${source.name}`;
  return html`<article
    class="sheet"
    id="article-${source.name}"
    aria-labelledby="${heading}"
    data-parts
  >
    <h2 id="${heading}">${untrusted(source.name)}</h2>
    <p class="says">${mark(verdict.level)} <span>${verdict.headline}</span></p>
    ${source.troubles.map(
      ({ what, why, since }) =>
        html`<p>${TROUBLES[what].headline}, since ${moment(since, now)}: ${untrusted(why)}</p>`,
    )}
    ${progressLine(source)} ${overrideLines(source, now)} ${approvalEvidence(source, now)}
    ${factsOf(source, now)} ${takesRequests ? buttonBar(source) : []} ${diagnosticList(source)}
    ${environmentTable(environments, source, now)} ${flagMatrix(source, now)}
    ${standingList(source, now)} ${orderedKillList(source)} ${invalidKillList(source)}
    ${openLists(source)} ${unmanagedList(source, now)} ${runList(source, now)}
  </article>`;
}

/** The bar has no value while the number of things to do is unknown. */
function progressLine({ progress }: SourceView): Html {
  if (progress === null) return html``;
  const { done, total } = progress;
  const bar =
    total === 0
      ? html`<progress aria-label="Progress"></progress>`
      : html`<progress
          aria-label="Progress"
          value="${String(done)}"
          max="${String(total)}"
        ></progress>`;
  return html`<p class="progress">${bar} ${progressText(progress)}</p>`;
}

function overrideLines(
  { suspended, pinned, unsigned, location }: SourceView,
  now: number,
): (Html | false)[] {
  const until = ({ until }: Override): Html =>
    until === null ? html`until git says otherwise` : html`until ${moment(until, now)}`;
  return [
    suspended !== null &&
      html`<p>Suspended ${until(suspended)}: ${untrusted(suspended.reason)}</p>`,
    pinned !== null &&
      html`<p>
        Pinned to ${commitOf(pinned.commit, location)} ${until(pinned)}: ${untrusted(pinned.reason)}
      </p>`,
    unsigned !== null &&
      html`<p>
        ${commitOf(unsigned.commit, location)} is not applied, because no allowed signer signed it.
        ${untrusted(unsigned.committer)} committed it: ${untrusted(unsigned.why)}
      </p>`,
  ];
}

function factsOf(source: SourceView, now: number): Html {
  const { location, branch, service, workspace, applied, appliedAt, leader } = source;
  const next = notApplied(source);
  return factList([
    ['Source', html`${untrusted(location)}${branch === null ? [] : html`, ${untrusted(branch)}`}`],
    service !== null &&
      workspace !== null && [
        'Service',
        html`${untrusted(service)}, workspace ${untrusted(workspace)}`,
      ],
    [
      'Applied',
      applied === null
        ? html`no commit as a whole yet`
        : commitLine(applied, location, { at: appliedAt, now }),
    ],
    next !== null && ['Newest', commitLine(next, location, { at: next.committedAt, now })],
    ['Next', nextLine(source, now)],
    !leader && ['Role', html`standby: another replica writes`],
  ]);
}

function commitLine(
  { commit, subject }: CommitView,
  location: string,
  { at, now }: { readonly at: string | null; readonly now: number },
): Html {
  return html`${commitOf(commit, location)} ${subjectOf(subject, location)}
    <span class="soft">${at === null ? [] : moment(at, now)}</span>`;
}

const PHASES: Readonly<Record<SourceView['phase'], string | null>> = {
  idle: null,
  debouncing: 'a run is about to start',
  running: 'a run is under way',
  queued: 'a run is under way, and another follows',
  'backing-off': 'waiting before the next try',
  stopping: 'stopping',
};

function nextLine({ phase, nextRetry, nextDue, nextSchedule }: SourceView, now: number): Html {
  const doing = PHASES[phase];
  const parts = [
    doing !== null && html`${doing}`,
    nextRetry !== null && html`next try ${moment(nextRetry, now)}`,
    nextDue !== null && html`next change by the clock ${moment(nextDue, now)}`,
    nextSchedule !== null && html`full look ${moment(nextSchedule, now)}`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return html`the next commit`;
  return html`${parts.map((part, i) => (i === 0 ? part : html`; ${part}`))}`;
}

function environmentTable(
  environments: readonly EnvironmentHealth[],
  source: SourceView,
  now: number,
): Html {
  if (environments.length === 0) return html``;
  const rows = environments.map(
    (environment) =>
      html`<tr>
        <th scope="row">${untrusted(environment.name ?? 'workspace level')}</th>
        <td>
          ${mark(levelOf(environment, source.standings !== null))}
          ${stateLine(environment, source, now)}
        </td>
        <td>${lastChangeOf(environment, source.location, now)}</td>
      </tr>`,
  );
  return html`<h3>Environments</h3>
    ${tableOf(['Environment', 'Now', 'Last change'], rows)}`;
}

/** Not `fine` while the current state is unknown. */
function levelOf({ standing, invalid, asOf }: EnvironmentHealth, isPlanned: boolean): Level {
  if (!isPlanned) return 'busy';
  const level = LEVEL_OF[standing ?? 'live'];
  return level === 'fine' && (invalid || asOf !== null) ? 'attention' : level;
}

function stateLine(
  { standing, counts, invalid, asOf }: EnvironmentHealth,
  { standings }: SourceView,
  now: number,
): Html {
  if (standings === null) return html`no run has made a plan yet`;
  const { doubt } = standings;
  const text =
    standing === null || counts === null ? 'no objects' : headlineText({ whole: standing, counts });
  const rest = invalid ? '; part of the specs is invalid' : '';
  if (doubt !== null) {
    const age = doubt.since === null ? html`` : html`, since ${moment(doubt.since, now)}`;
    return html`${text}: ${whyText({ is: 'unknown', ...doubt })}${age}`;
  }
  if (asOf === null) return html`${text}${rest}`;
  return html`not known now; ${text}${rest} <span class="soft">as of ${moment(asOf, now)}</span>`;
}

function lastChangeOf({ lastChange }: EnvironmentHealth, location: string, now: number): Html {
  if (lastChange === null) return html`<span class="soft">none in the runs kept</span>`;
  const { commit, startedAt } = lastChange;
  return html`${commit === null ? [] : commitOf(commit, location)} ${moment(startedAt, now)}`;
}
