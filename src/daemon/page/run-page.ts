import { html, type Html } from '../../html.js';
import { clean } from '../../report/clean.js';
import type { RunRecord, SourceView } from '../view.js';
import { documentOf } from './document.js';
import { planTextOf } from './plan-text.js';
import { duration, mark, moment, RESULTS, triggerWords, untrusted } from './words.js';

/** One run: how it ended, what it was about, and the whole report as the command would have printed it. */
export function runPage(source: SourceView, run: RunRecord, now: number): string {
  const { level, word } = RESULTS[run.result];
  return documentOf({
    title: `${word} · ${clean(source.name)} · flaghoist`,
    isLive: false,
    body: html`<header class="bar">
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
        <section class="sheet" aria-label="About this run">
          <dl class="facts">
            ${factsOf(run, now).map(
              ([name, value]) =>
                html`<dt>${name}</dt>
                  <dd>${value}</dd>`,
            )}
          </dl>
        </section>
        <section class="sheet" aria-label="Report">${reportOf(run)}</section>
      </main>`,
  });
}

function factsOf(run: RunRecord, now: number): (readonly [string, Html])[] {
  const { commit, subject, plan } = run;
  return [
    ['Run', html`<code>${run.id}</code>`],
    ['Started', moment(run.startedAt, now)],
    ['Took', html`${duration(run.durationMs)}, ${String(run.requests)} requests`],
    ['Because of', html`${triggerWords(run.triggers)}`],
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
