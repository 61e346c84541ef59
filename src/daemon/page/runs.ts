import { html, htmlOf, type Html } from '../../platform/html.js';
import { clean } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { RESULTS } from '../health.js';
import type { RunRecord, SourceView } from '../view.js';
import {
  subPage,
  clockText,
  commitOf,
  duration,
  factList,
  mark,
  moment,
  subjectOf,
  triggerText,
  type Fact,
  untrusted,
} from './phrases.js';

const FIRST = 8;

/** Consecutive runs without news form one line, so that the other runs stay visible. */
interface Group {
  readonly newest: RunRecord;
  readonly oldest: RunRecord;
  readonly count: number;
}

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

export function runPage(source: SourceView, run: RunRecord, now: number): string {
  const { level, word } = RESULTS[run.result];
  const report =
    run.text.trim() === '' ? html`<p>This run printed no report.</p>` : planTextOf(run.text);
  return subPage(
    `${word} · ${clean(source.name)}`,
    '../',
    html`<div class="sheet verdict ${level}">
        ${mark(level)}
        <div>
          <h1>${untrusted(source.name)}: ${word}</h1>
          <p>${untrusted(run.summary)}</p>
        </div>
      </div>
      <section class="sheet" aria-label="About this run">${factList(runFacts(run, now))}</section>
      <section class="sheet" aria-label="Report">${report}</section>`,
  );
}

function runFacts(run: RunRecord, now: number): Fact[] {
  const { commit, subject, plan } = run;
  return [
    ['Run', html`<code>${run.id}</code>`],
    ['Started', moment(run.startedAt, now)],
    ['Took', html`${duration(run.durationMs)}, ${String(run.requests)} requests`],
    ['Because of', html`${triggerText(run.triggers)}`],
    commit !== null && [
      'Commit',
      html`<code>${clean(commit)}</code> ${subject === null ? [] : untrusted(subject)}`,
    ],
    ['Exit code', html`${String(run.exitCode)}`],
    plan !== null && [
      'Plan',
      html`<code>${clean(plan.planHash)}</code>
        <a href="${encodeURIComponent(run.id)}/plan">as JSON</a>`,
    ],
  ];
}

/** More than people read in a browser. */
const MOST_LINES = 5_000;

const TONES: readonly (readonly [RegExp, string])[] = [
  [/^\s*\+ /, 'add'],
  [/^\s*~ /, 'change'],
  [/^\s*- /, 'remove'],
  [/^\s*[✗!] /, 'alarm'],
  [/^\S/, 'strong'],
];

export function planTextOf(text: string): Html {
  const lines = text.trimEnd().split('\n');
  const left = lines.length - MOST_LINES;
  const rest = left > 0 ? html`… ${String(left)} more lines` : html``;
  const shown = lines.slice(0, MOST_LINES).flatMap((line) => [tonedLine(line), LINE_END]);
  return html`<pre>${shown}${rest}</pre>`;
}

const LINE_END = htmlOf('\n');

function tonedLine(line: string): Html {
  const text = clean(line);
  const tone = TONES.find(([start]) => start.test(text))?.[1];
  return tone === undefined ? html`${text}` : html`<span class="${tone}">${text}</span>`;
}
