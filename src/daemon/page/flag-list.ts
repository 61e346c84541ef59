import { html, type Html } from '../../platform/html.js';
import { shareBar, shareTexts } from '../../report/html/shares.js';
import { plural } from '../../report/values.js';
import type { EnvironmentFlags, LiveFlag, Serving, SourceView } from '../view.js';
import { forgePages } from './forge-pages.js';
import { linkTo, moment, untrusted } from './phrases.js';

/** Lists up to this length start open. */
const SHORT = 8;

/** The treatments of each flag by environment. Empty until a run has seen a flag. */
export function flagLists(source: SourceView, now: number): Html {
  const shown = source.flags.filter(({ flags }) => flags.length > 0);
  if (shown.length === 0) return html``;
  return html`<h3>What flags serve</h3>
    ${shown.map((each) => listOf(each, source, now))}`;
}

function listOf(
  { environment, total, flags }: EnvironmentFlags,
  of: SourceView,
  now: number,
): Html {
  const killed = flags.filter(({ serves }) => serves?.killed === true).length;
  const oldest = flags.map(({ seenAt }) => seenAt).reduce((a, b) => (a < b ? a : b));
  const more = total - flags.length;
  return html`<details id="flags-${of.name}-${environment}" ${isOpen(total)}>
    <summary>
      ${untrusted(environment)}:
      ${plural(total, 'flag')}${killed > 0 ? `, ${String(killed)} killed` : ''}
      <span class="soft">as of ${moment(oldest, now)}</span>
    </summary>
    <ul class="flags">
      ${flags.map((flag) => html`<li>${itemOf(flag, of)}</li>`)}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: <code>flagkeel report</code></li>` : []}
    </ul>
  </details>`;
}

function isOpen(total: number): Html {
  return total <= SHORT ? html`open` : html``;
}

function itemOf(
  { name, file, line, serves, invalid }: LiveFlag,
  { location, applied }: SourceView,
): Html {
  const page = forgePages(location)?.file(applied?.commit ?? '', file, line) ?? null;
  return html`<strong>${linkTo(page, untrusted(name))}</strong> ${
      serves === null
        ? html`<span></span> <span>not on the service</span>`
        : html`${shareBar(serves)}
            <span>${servingText(serves)}${invalid ? '; invalid file, so as last seen' : ''}</span>`
    }`;
}

/** Text such as `on 25 %, off 75 %; 2 rules before`. */
function servingText(serving: Serving): Html {
  const { killed, trafficAllocation, defaultTreatment, rules, targets } = serving;
  if (killed) return html`killed: everybody gets ${untrusted(defaultTreatment)}`;
  const before = [
    ...(targets > 0 ? [plural(targets, 'targeted key')] : []),
    ...(rules > 0 ? [plural(rules, 'rule')] : []),
  ];
  const rest = html`; of ${String(trafficAllocation)} % of the traffic, the rest gets
  ${untrusted(defaultTreatment)}`;
  return html`${shareTexts(serving)}${trafficAllocation < 100 ? rest : []}${
    before.length > 0 ? `; ${before.join(' and ')} before` : ''
  }`;
}
