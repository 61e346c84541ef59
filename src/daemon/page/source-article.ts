import { html, type Html } from '../../html.js';
import { WHY_WORDS } from '../../report/change-lines.js';
import type { WithheldDocument } from '../../report/plan-json.js';
import { plural } from '../../report/value-words.js';
import {
  newestPlan,
  type EnvironmentStanding,
  type Level,
  type SourceStanding,
} from '../standing.js';
import type { CommitView, Hold, SourceView } from '../view.js';
import { runList } from './run-list.js';
import { commitOf, mark, moment, untrusted } from './words.js';

/** One config repository: what it is, how each environment stands, what is held back and why, and its last runs. */
export function sourceArticle(
  source: SourceView,
  { verdict, environments }: SourceStanding,
  now: number,
): Html {
  const heading = `source-${source.name}`;
  return html`<article class="sheet" aria-labelledby="${heading}">
    <h2 id="${heading}">${untrusted(source.name)}</h2>
    <p class="says">${mark(verdict.level)} <span>${verdict.headline}</span></p>
    ${source.troubles.map(
      ({ what, why, since }) =>
        html`<p>The ${what}, since ${moment(since, now)}: ${untrusted(why)}</p>`,
    )}
    ${holdLines(source, now)} ${factList(source, now)} ${environmentTable(environments, now)}
    ${withheldList(newestPlan(source)?.withheld ?? [])} ${runList(source, now)}
  </article>`;
}

function holdLines({ suspended, pinned }: SourceView, now: number): Html[] {
  const until = ({ until }: Hold): Html =>
    until === null ? html`until git says otherwise` : html`until ${moment(until, now)}`;
  return [
    ...(suspended === null
      ? []
      : [html`<p>Suspended ${until(suspended)}: ${untrusted(suspended.reason)}</p>`]),
    ...(pinned === null
      ? []
      : [
          html`<p>
            Pinned to ${commitOf(pinned.commit)} ${until(pinned)}: ${untrusted(pinned.reason)}
          </p>`,
        ]),
  ];
}

function factList(source: SourceView, now: number): Html {
  const { location, branch, service, workspace, seen, applied, leader } = source;
  const isBehind = seen !== null && seen.commit !== applied?.commit;
  const facts: (readonly [string, Html] | undefined)[] = [
    ['Source', html`${untrusted(location)}${branch === null ? [] : html`, ${untrusted(branch)}`}`],
    service === null || workspace === null
      ? undefined
      : ['Service', html`${untrusted(service)}, workspace ${untrusted(workspace)}`],
    ['Applied', applied === null ? html`nothing yet` : commitLine(applied, now)],
    isBehind ? ['Newest', commitLine(seen, now)] : undefined,
    ['Next', nextLine(source, now)],
    leader ? undefined : ['Role', html`standby: another replica writes`],
  ];
  return html`<dl class="facts">
    ${facts
      .filter((fact) => fact !== undefined)
      .map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
  </dl>`;
}

function commitLine({ commit, subject, committedAt }: CommitView, now: number): Html {
  return html`${commitOf(commit)} ${untrusted(subject)}
    <span class="soft">${moment(committedAt, now)}</span>`;
}

const PHASES: Readonly<Record<SourceView['phase'], string | null>> = {
  idle: null,
  debouncing: 'a run is about to start',
  running: 'a run is under way',
  queued: 'a run is under way, and another follows',
  'backing-off': 'waiting before the next try',
  stopping: 'stopping',
};

function nextLine({ phase, nextRetry, nextSchedule }: SourceView, now: number): Html {
  const doing = PHASES[phase];
  const parts = [
    ...(doing === null ? [] : [html`${doing}`]),
    ...(nextRetry === null ? [] : [html`next try ${moment(nextRetry, now)}`]),
    ...(nextSchedule === null ? [] : [html`full look ${moment(nextSchedule, now)}`]),
  ];
  if (parts.length === 0) return html`the next commit`;
  return html`${parts.map((part, i) => (i === 0 ? part : html`; ${part}`))}`;
}

function environmentTable(environments: readonly EnvironmentStanding[], now: number): Html {
  if (environments.length === 0) return html``;
  const rows = environments.map(
    (environment) =>
      html`<tr>
        <th scope="row">${untrusted(environment.name ?? 'workspace level')}</th>
        <td>${mark(levelOf(environment))} ${stateOf(environment)}</td>
        <td>${lastChangeOf(environment, now)}</td>
      </tr>`,
  );
  return html`<h3>Environments</h3>
    <table>
      <thead>
        <tr>
          <th scope="col">Environment</th>
          <th scope="col">Now</th>
          <th scope="col">Last change</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function levelOf({ failed, waiting, withheld }: EnvironmentStanding): Level {
  if (failed > 0) return 'trouble';
  return waiting + withheld > 0 ? 'attention' : 'fine';
}

function stateOf({ failed, waiting, drift, withheld }: EnvironmentStanding): string {
  const parts = [
    ...(failed > 0 ? [`${String(failed)} failed`] : []),
    ...(waiting > 0 ? [`${String(waiting)} waiting`] : []),
    ...(withheld > 0 ? [`${String(withheld)} withheld`] : []),
    ...(drift > 0 ? [`${String(drift)} changed outside git`] : []),
  ];
  return parts.length === 0 ? 'in line' : parts.join(', ');
}

function lastChangeOf({ lastChange }: EnvironmentStanding, now: number): Html {
  if (lastChange === null) return html`<span class="soft">none in the runs kept</span>`;
  const { commit, startedAt } = lastChange;
  return html`${commit === null ? [] : commitOf(commit)} ${moment(startedAt, now)}`;
}

const MOST_WITHHELD = 50;

function withheldList(withheld: readonly WithheldDocument[]): Html {
  if (withheld.length === 0) return html``;
  const more = withheld.length - MOST_WITHHELD;
  return html`<h3>Withheld</h3>
    <ul class="held">
      ${withheld.slice(0, MOST_WITHHELD).map(
        ({ id, action, why, wayOut }) =>
          html`<li>
            ${action} <strong>${untrusted(id)}</strong>: ${WHY_WORDS[why]}
            <div class="soft">→ ${untrusted(wayOut)}</div>
          </li>`,
      )}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: see the plan of the last run</li>` : []}
    </ul>`;
}
