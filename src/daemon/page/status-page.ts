import { html, type Html } from '../../html.js';
import { standingOf, verdictOver, type SourceStanding, type Verdict } from '../standing.js';
import type { DaemonView, SourceView } from '../view.js';
import { documentOf } from './document.js';
import { sourceArticle } from './source-article.js';
import { mark, moment, untrusted } from './words.js';

/** The page that somebody on call opens: the verdict first, then each source with what it is made of. */
export function statusPage(view: DaemonView, now: number): string {
  const sources = view.sources().map((source) => ({ source, standing: standingOf(source) }));
  const verdict = verdictOver(
    sources.map(({ source, standing }) => ({ name: source.name, verdict: standing.verdict })),
  );
  return documentOf({
    title: `${verdict.headline} · flaghoist`,
    isLive: true,
    body: html`<header class="bar">
        <span><strong>flaghoist</strong> <span class="soft">${view.version}</span></span>
        <span class="soft"
          ><span id="as-of">${asOf(now)}</span> · <span id="live">as loaded</span></span
        >
      </header>
      <main>
        ${verdictPanel(verdict)}
        <div id="sources">${sources.map((each) => articleOf(each, now))}</div>
      </main>
      <footer class="soft">
        Up since ${moment(view.startedAt, now)}. For programs: <a href="status">status</a>,
        <a href="metrics">metrics</a>, <a href="readyz">readiness</a>.
      </footer>`,
  });
}

function asOf(now: number): Html {
  const text = new Date(now).toISOString();
  return html`as of <time datetime="${text}">${text.slice(11, 19)} UTC</time>`;
}

/** A status for screen readers: said when it changes, and so without anything that changes with the clock. */
function verdictPanel({ level, headline, detail }: Verdict): Html {
  return html`<div id="verdict" class="sheet verdict ${level}" role="status">
    ${mark(level)}
    <div>
      <h1>${headline}</h1>
      ${detail === null ? [] : html`<p>${untrusted(detail)}</p>`}
    </div>
  </div>`;
}

function articleOf(
  { source, standing }: { source: SourceView; standing: SourceStanding },
  now: number,
): Html {
  return sourceArticle(source, standing, now);
}
