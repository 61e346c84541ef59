import { html, type Html } from '../../platform/html.js';
import { documentOf } from '../../platform/page.js';
import { healthOf, verdictOver, type Verdict } from '../health.js';
import type { DaemonView, SourceView, RunRecord } from '../view.js';
import { CONFIRMATION, PANEL } from './buttons.js';
import { LOOK, PLAIN_LOOK } from './kit.js';
import { sourceArticle, type PageMoment } from './source-article.js';
import { duration, factList, mark, moment, untrusted, RESULTS, triggerText } from './phrases.js';
import { clean } from '../../report/sanitize.js';
import { planTextOf } from './plan-text.js';

/** The content security policy of every page. */
export const PAGE_POLICY = LOOK.policy;

/** The page for a person on call: the verdict first, then each source in detail. */
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

/** One run: its result, its commit, and the whole report as the command would have printed it. */
export function runPage(source: SourceView, run: RunRecord, now: number): string {
  const { level, word } = RESULTS[run.result];
  return documentOf(
    PLAIN_LOOK,
    `${word} · ${clean(source.name)} · flagkeel`,
    html`<header class="bar">
        <nav><a href="../">Status</a></nav>
      </header>
      <main>
        <div class="sheet verdict ${level}">
          ${mark(level)}
          <div>
            <h1>${untrusted(source.name)}: ${word}</h1>
            <p>${untrusted(run.summary)}</p>
          </div>
        </div>
        <section class="sheet" aria-label="About this run">${factList(factsOf(run, now))}</section>
        <section class="sheet" aria-label="Report">${reportOf(run)}</section>
      </main>`,
  );
}

function factsOf(run: RunRecord, now: number): (readonly [string, Html])[] {
  const { commit, subject, plan } = run;
  return [
    ['Run', html`<code>${run.id}</code>`],
    ['Started', moment(run.startedAt, now)],
    ['Took', html`${duration(run.durationMs)}, ${String(run.requests)} requests`],
    ['Because of', html`${triggerText(run.triggers)}`],
    ...(commit === null ? [] : [['Commit', commitFact(commit, subject)] as const]),
    ['Exit code', html`${String(run.exitCode)}`],
    ...(plan === null ? [] : [['Plan', planFact(run.id, plan.planHash)] as const]),
  ];
}

function commitFact(commit: string, subject: string | null): Html {
  return html`<code>${clean(commit)}</code> ${subject === null ? [] : untrusted(subject)}`;
}

function planFact(id: string, planHash: string): Html {
  const href = `${encodeURIComponent(id)}/plan`;
  return html`<code>${clean(planHash)}</code> <a href="${href}">as JSON</a>`;
}

function reportOf({ text }: RunRecord): Html {
  return text.trim() === '' ? html`<p>This run printed no report.</p>` : planTextOf(text);
}
