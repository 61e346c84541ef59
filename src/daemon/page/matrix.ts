import { html, type Html } from '../../platform/html.js';
import { shareBar } from '../../report/html/definition.js';
import { clean } from '../../report/sanitize.js';
import { noBreak } from '../../report/text/layout.js';
import { plural } from '../../report/values.js';
import { sharesText } from '../../report/view/rule.js';
import { whyText } from '../../report/view/verdict.js';
import type { EnvironmentFlags, LiveFlag, Serving, SourceView } from '../view.js';
import {
  ALL_STATES,
  flagRows,
  shownColumns,
  STATES,
  type FlagPlace,
  type FlagRow,
  type FlagState,
} from './flag-places.js';
import { stateMark } from './kit.js';
import { clockText, moment, untrusted } from './phrases.js';

/** More are laid out only when they come into sight. */
const MANY_ROWS = 100;

/** Every flag in every environment, the protected ones first. Empty until a run has seen a flag. */
export function flagMatrix(source: SourceView, now: number): Html {
  const columns = shownColumns(source);
  const rows = flagRows(source);
  if (rows.length === 0) return html``;
  const total = Math.max(...columns.map((column) => column.total));
  const more = Math.max(...columns.map((column) => column.total - column.flags.length));
  const heads = columns.map(
    (column) =>
      html`<th scope="col">
        ${untrusted(column.environment)}
        <span class="soft">${knownSince(column, source, now)}</span>
      </th>`,
  );
  const title = `flags-${source.name}`;
  return html`<section id="section-${source.name}" data-parts>
    <h3 id="${title}">What ${plural(total, 'flag')} serve</h3>
    ${filterBar(source, rows)} ${legend(rows)}
    <div
      class="rows"
      id="rows-${source.name}"
      role="region"
      aria-label="What flags of ${source.name} serve"
      tabindex="0"
      data-parts
    >
      <table
        class="matrix ${rows.length > MANY_ROWS ? 'long' : ''}"
        id="matrix-${source.name}"
        data-parts
      >
        <thead>
          <tr>
            <th scope="col">Flag</th>
            ${heads}
          </tr>
        </thead>
        <tbody data-parts>
          ${rows.map((row) => rowOf(row, source, now))}
        </tbody>
      </table>
    </div>
    ${more > 0 ? html`<p>and ${plural(more, 'more', 'more')}: <code>flagkeel report</code></p>` : []}
  </section>`;
}

function knownSince({ flags }: EnvironmentFlags, { standings }: SourceView, now: number): Html {
  const { doubt } = standings ?? { doubt: null };
  if (doubt !== null) {
    return doubt.since === null ? html`unknown` : html`unknown since ${moment(doubt.since, now)}`;
  }
  const oldest = flags.map(({ seenAt }) => seenAt).sort()[0];
  return oldest === undefined ? html`` : html`as of ${moment(oldest, now)}`;
}

/** Visible only if scripts run. The search looks into the text of each row. */
function filterBar({ name }: SourceView, rows: readonly FlagRow[]): Html {
  const options = statesIn(rows).map((state) => {
    const count = rows.filter(({ places }) => places.some(({ states }) => states.includes(state)));
    return html`<option value="${state}">${STATES[state].word} (${String(count.length)})</option>`;
  });
  return html`<div
    class="filter"
    role="search"
    aria-label="Flags of ${name}"
    data-filters="matrix-${name}"
  >
    <label>Search <input type="search" id="search-${name}" autocomplete="off" /></label>
    <label
      >State
      <select id="state-${name}">
        <option value="">all (${String(rows.length)})</option>
        ${options}
      </select></label
    >
    <output class="soft" id="shown-${name}"></output>
  </div>`;
}

function statesIn(rows: readonly FlagRow[]): FlagState[] {
  const found = new Set(rows.flatMap(({ places }) => places.flatMap(({ states }) => states)));
  return ALL_STATES.filter((state) => found.has(state));
}

function legend(rows: readonly FlagRow[]): Html {
  const states = statesIn(rows).map(
    (state) => html`<li>${stateMark(state)} ${STATES[state].word}</li>`,
  );
  return html`<ul class="legend soft" aria-label="Legend">
    <li><i class="key tone0" aria-hidden="true"></i>share of a treatment</li>
    <li><i class="key off" aria-hidden="true"></i>share of the default treatment</li>
    ${states}
  </ul>`;
}

function rowOf({ name, places }: FlagRow, source: SourceView, now: number): Html {
  const states = [...new Set(places.flatMap((place) => place.states))].join(' ');
  const href = `flags/${encodeURIComponent(source.name)}/${encodeURIComponent(name)}`;
  return html`<tr id="row-${source.name}-${clean(name)}" data-states="${states}">
    <th scope="row"><a href="${href}" data-panel>${untrusted(name)}</a></th>
    ${places.map(
      (place) =>
        html`<td data-place="${clean(place.environment)}">${stateOfPlace(place, now)}</td>`,
    )}
  </tr>`;
}

/** A share is shown only while it is known: an unknown place says what was seen last, and when. */
function stateOfPlace(place: FlagPlace, now: number): Html {
  const { live, states, standing } = place;
  if (live === null && standing === null) return html`<span class="soft">not declared</span>`;
  const marks = states
    .filter((state) => state !== 'killed')
    .map((state) => html`<div>${stateMark(state)} ${wordsOf(state, place)}</div>`);
  return html`${live === null ? [] : servedText(live, states.includes('unknown'), now)}${marks}`;
}

function wordsOf(state: FlagState, { standing, ramps: [ramp] }: FlagPlace): string {
  if (state === standing?.standing.is) return whyText(standing.standing);
  if (state !== 'ramping' || ramp === undefined) return STATES[state].word;
  const next = ramp.steps[ramp.step + 1];
  if (ramp.held !== null) return 'ramping, held';
  return next === undefined ? 'ramping' : `ramping, next ${String(next.percent)} %`;
}

function servedText({ serves, seenAt }: LiveFlag, isUnknown: boolean, now: number): Html {
  if (isUnknown) {
    const words = serves === null ? html`not on the service` : briefText(serves);
    return html`<span class="soft">last seen ${clockText(seenAt, now)}: ${words}</span>`;
  }
  if (serves === null) return html`not on the service`;
  return html`${shareBar({ ...serves, defaultRule: serves.shares })}${serves.killed ? stateMark('killed') : []}
  ${briefText(serves)}`;
}

/** Text such as `on 25 %` or `killed: everybody gets off`. */
function briefText(serving: Serving): Html {
  const { killed, shares, defaultTreatment, trafficAllocation, rules, targets } = serving;
  if (killed)
    return html`<b class="killed">killed</b>: everybody gets ${untrusted(defaultTreatment)}`;
  const before = [
    ...(trafficAllocation < 100 ? [`of ${String(trafficAllocation)} %`] : []),
    ...(targets > 0 ? [plural(targets, 'key')] : []),
    ...(rules > 0 ? [plural(rules, 'rule')] : []),
  ].map(noBreak);
  return html`${sharesText(shares, defaultTreatment)}${
    before.length === 0 ? [] : html` <span class="soft">${before.join(', ')}</span>`
  }`;
}
