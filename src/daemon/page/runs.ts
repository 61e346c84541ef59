import { html, type Html } from '../../platform/html.js';
import { plural } from '../../report/values.js';
import type { RunRecord, SourceView } from '../view.js';
import {
  clockText,
  commitOf,
  duration,
  mark,
  moment,
  RESULTS,
  subjectOf,
  triggerText,
  untrusted,
} from './phrases.js';
import { planTextOf } from './plan-text.js';

const FIRST = 8;

/** Consecutive runs without news form one line, so that the other runs stay visible. */
interface Group {
  readonly newest: RunRecord;
  readonly oldest: RunRecord;
  readonly count: number;
}

/** Newest first. The plan of the newest run with news starts open. */
export function runList({ runs, name, location }: SourceView, now: number): Html {
  if (runs.length === 0) return html``;
  const groups = groupsOf(runs);
  const older = groups.slice(FIRST);
  return html`<h3>Runs</h3>
    ${timeline(groups, now)} ${listOf(groups.slice(0, FIRST), location, now)} ${planOf(runs, name)}
    ${
      older.length === 0
        ? []
        : html`<details id="older-${name}">
            <summary>Older runs</summary>
            ${listOf(older, location, now)}
          </details>`
    }`;
}

/** One mark for each group, the newest last, so that a row of crosses shows since when something fails. */
function timeline(groups: readonly Group[], now: number): Html {
  const marks = groups.toReversed().map(({ newest: { id, result, startedAt } }) => {
    const { level, word } = RESULTS[result];
    const label = `${word}, ${clockText(startedAt, now)}`;
    return html`<li>
      <a href="runs/${encodeURIComponent(id)}" title="${label}" aria-label="${label}"
        >${mark(level)}</a
      >
    </li>`;
  });
  return html`<ol class="timeline" aria-label="Runs, the newest last">
    ${marks}
  </ol>`;
}

function groupsOf(runs: readonly RunRecord[]): Group[] {
  const groups: Group[] = [];
  for (const run of runs) {
    const last = groups.at(-1);
    if (last !== undefined && isQuiet(run) && isQuiet(last.oldest)) {
      groups[groups.length - 1] = { newest: last.newest, oldest: run, count: last.count + 1 };
    } else groups.push({ newest: run, oldest: run, count: 1 });
  }
  return groups;
}

function isQuiet({ result, plan }: RunRecord): boolean {
  return result === 'in-sync' && (plan?.withheld.length ?? 0) === 0;
}

function listOf(groups: readonly Group[], location: string, now: number): Html {
  return html`<ol class="runs">
    ${groups.map((group) => html`<li>${lineOf(group, location, now)}</li>`)}
  </ol>`;
}

function lineOf({ newest, oldest, count }: Group, location: string, now: number): Html {
  const { id, result, commit, subject, startedAt, durationMs, triggers, summary } = newest;
  const { level, word } = RESULTS[result];
  const link = html`<a id="run-${id}" href="runs/${encodeURIComponent(id)}">${word}</a>`;
  const many =
    count === 1
      ? html``
      : html`<span class="soft"
          >${plural(count, 'look')}, since ${moment(oldest.startedAt, now)}</span
        >`;
  return html`${mark(level)}
    <div>
      ${link} ${commit === null ? [] : commitOf(commit, location)}
      ${subject === null ? [] : subjectOf(subject, location)} ${many}<br /><span class="soft"
        >${moment(startedAt, now)}, ${duration(durationMs)}, ${triggerText(triggers)}</span
      ><br />${untrusted(summary)}
    </div>`;
}

function planOf(runs: readonly RunRecord[], name: string): Html {
  const telling = runs.find((run) => !isQuiet(run) && run.text !== '');
  if (telling === undefined) return html``;
  return html`<details id="plan-${name}">
    <summary>The last report with something in it</summary>
    ${planTextOf(telling.text)}
  </details>`;
}
