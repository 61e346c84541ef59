import { html, type Html } from '../../html.js';
import { plural } from '../../report/value-words.js';
import type { RunRecord, SourceView } from '../view.js';
import { planTextOf } from './plan-text.js';
import { commitOf, duration, mark, moment, RESULTS, triggerWords, untrusted } from './words.js';

const FIRST = 8;

/** Runs that told nothing new, one after the other, are one line: what happened is not lost among them. */
interface Group {
  readonly newest: RunRecord;
  readonly oldest: RunRecord;
  readonly count: number;
}

/** Newest first; the plan of the newest that has something to say stands open to be read. */
export function runList({ runs, name }: SourceView, now: number): Html {
  if (runs.length === 0) return html``;
  const groups = groupsOf(runs);
  const older = groups.slice(FIRST);
  return html`<h3>Runs</h3>
    ${listOf(groups.slice(0, FIRST), now)} ${planOf(runs, name)}
    ${
      older.length === 0
        ? []
        : html`<details id="older-${name}">
            <summary>Older runs</summary>
            ${listOf(older, now)}
          </details>`
    }`;
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

function listOf(groups: readonly Group[], now: number): Html {
  return html`<ol class="runs">
    ${groups.map((group) => html`<li>${lineOf(group, now)}</li>`)}
  </ol>`;
}

function lineOf({ newest, oldest, count }: Group, now: number): Html {
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
      ${link} ${commit === null ? [] : commitOf(commit)}
      ${subject === null ? [] : untrusted(subject)} ${many}<br /><span class="soft"
        >${moment(startedAt, now)}, ${duration(durationMs)}, ${triggerWords(triggers)}</span
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
