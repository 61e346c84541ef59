import { html, type Html } from '../../platform/html.js';
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

function itemOf({ name, file, line, serves }: LiveFlag, { location, applied }: SourceView): Html {
  const page = forgePages(location)?.file(applied?.commit ?? '', file, line) ?? null;
  const words = serves === null ? 'not on the service' : servingText(serves);
  return html`<strong>${linkTo(page, untrusted(name))}</strong>
    ${serves === null ? html`<span></span>` : barOf(serves)} <span>${untrusted(words)}</span>`;
}

/** Text such as `on 25 %, off 75 %; 2 rules before`. */
function servingText(serving: Serving): string {
  const { killed, shares, trafficAllocation, defaultTreatment, rules, targets } = serving;
  if (killed) return `killed: everybody gets ${defaultTreatment}`;
  const parts = shares.map(({ treatment, size }) => `${treatment} ${String(size)} %`);
  const before = [
    ...(targets > 0 ? [plural(targets, 'targeted key')] : []),
    ...(rules > 0 ? [plural(rules, 'rule')] : []),
  ];
  return [
    parts.join(', '),
    ...(trafficAllocation < 100
      ? [`of ${String(trafficAllocation)} % of the traffic, the rest gets ${defaultTreatment}`]
      : []),
    ...(before.length > 0 ? [`${before.join(' and ')} before`] : []),
  ].join('; ');
}

/** Number of colours; further treatments reuse them. The default treatment has its own colour. */
const COLOURS = 5;

/**
 * Hidden from screen readers: the text beside it says the same. Widths are attributes, which the page's policy allows.
 */
function barOf({ killed, shares, trafficAllocation, defaultTreatment }: Serving): Html {
  const scale = killed ? 0 : trafficAllocation / 100;
  let at = 0;
  const parts = shares.map(({ treatment, size }, index) => {
    const width = size * scale;
    const x = at;
    at += width;
    const tone = treatment === defaultTreatment ? 'rest' : `t${String(index % COLOURS)}`;
    return html`<rect class="${tone}" x="${String(x)}" width="${String(width)}" height="8" />`;
  });
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg>`;
}
