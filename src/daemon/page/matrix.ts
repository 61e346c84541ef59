import { grouped } from '../../model/collections.js';
import type { PlanDocument } from '../../report/json/plan.js';
import { STANDING_WORDS, whyText } from '../../report/view/verdict.js';
import type { EnvironmentFlags, LiveFlag, SourceView, Serving } from '../view.js';
import { newestPlan } from '../health.js';
import type { StandingView } from '../standings.js';
import { html, type Html } from '../../platform/html.js';
import { matrixOf, placeCell, shareBar } from '../../report/html/parts.js';
import { clean } from '../../report/sanitize.js';
import { noBreak } from '../../report/text/layout.js';
import { plural } from '../../report/values.js';
import { sharesText } from '../../report/view/rule.js';
import { nextStep } from '../../report/view/sentences.js';
import { clockText, moment, untrusted } from './phrases.js';

export type RampView = NonNullable<PlanDocument['ramps']>[number];

/** The most urgent first. A symbol says as much as its colour. */
export const STATES = {
  failed: { symbol: '✗', word: STANDING_WORDS.failed },
  unknown: { symbol: '?', word: STANDING_WORDS.unknown },
  killed: { symbol: '⊘', word: 'killed' },
  held: { symbol: '!', word: STANDING_WORDS.held },
  waits: { symbol: '◷', word: STANDING_WORDS.waits },
  ramping: { symbol: '↗', word: 'ramping' },
} as const;

export type FlagState = keyof typeof STATES;

const ALL_STATES = Object.keys(STATES) as FlagState[];

export function stateMark(state: FlagState): Html {
  return html`<span class="state ${state}" aria-hidden="true">${STATES[state].symbol}</span>`;
}

export interface FlagPlace {
  readonly environment: string;
  /** null if no run saw a definition that git declares here. */
  readonly live: LiveFlag | null;
  /** Set if the object is not as git has it. */
  readonly standing: StandingView | null;
  readonly ramps: readonly RampView[];
  readonly isKilledByHand: boolean;
  /** The most urgent first; empty if the flag is in sync and nothing is special. */
  readonly states: readonly FlagState[];
}

export interface FlagRow {
  readonly name: string;
  readonly places: readonly FlagPlace[];
}

export function flagRows(source: SourceView): FlagRow[] {
  const columns = shownColumns(source).map((column) => ({
    environment: column.environment,
    flags: new Map(column.flags.map((flag) => [flag.name, flag])),
  }));
  const names = new Set(columns.flatMap(({ flags }) => [...flags.keys()]));
  const placeOf = placesIn(source);
  return [...names].sort().map((name) => ({
    name,
    places: columns.map(({ environment, flags }) =>
      placeOf(name, environment, flags.get(name) ?? null),
    ),
  }));
}

/** Environments with flags, the protected ones first. */
function shownColumns({ flags, environments }: SourceView): EnvironmentFlags[] {
  const order = new Map(environments.map((name, at) => [name, at]));
  const placeOf = ({ environment }: EnvironmentFlags): number => order.get(environment) ?? 0;
  return flags.filter(({ total }) => total > 0).toSorted((a, b) => placeOf(a) - placeOf(b));
}

function placesIn(
  source: SourceView,
): (name: string, environment: string, live: LiveFlag | null) => FlagPlace {
  const { standings, liveKills } = source;
  const notLive = new Map((standings?.objects ?? []).map((each) => [each.id, each]));
  const byHand = new Set(liveKills.map(({ id }) => id));
  const ramps = newestPlan(source)?.ramps ?? [];
  const underWay = ramps.filter(({ steps, served }) => served !== steps.at(-1)?.percent);
  const rampsOf = grouped(underWay, ({ id }) => id);
  const isUnknown = standings?.doubt != null;
  return (name, environment, live) => {
    const id = `flag/${name}@${environment}` as const;
    const standing = notLive.get(id) ?? null;
    const own = rampsOf.get(id) ?? [];
    const found = new Set<FlagState>([
      ...(isUnknown ? (['unknown'] as const) : []),
      ...(standing === null ? [] : [standing.standing.is]),
      ...(live?.serves?.killed === true ? (['killed'] as const) : []),
      ...(own.length > 0 ? (['ramping'] as const) : []),
    ]);
    const isKnown = live !== null || standing !== null;
    const states = isKnown ? ALL_STATES.filter((each) => found.has(each)) : [];
    const isKilledByHand = byHand.has(id);
    return { environment, live, standing, ramps: own, isKilledByHand, states };
  };
}

/** Replicas do not share what the flags serve after a run in sync, so a new one may know the standings alone. */
function isUnknownHere({ flags, standings }: SourceView): boolean {
  return standings !== null && (flags.length === 0 || flags.some(({ total }) => total > 0));
}

const UNKNOWN_HERE = html`<h3>What flags serve</h3>
  <p>
    Not known here yet. A replica learns it from the next run that finds a difference, and from its
    own runs.
  </p>`;

export function flagMatrix(source: SourceView, now: number): Html {
  const columns = shownColumns(source);
  const rows = flagRows(source);
  if (rows.length === 0) return isUnknownHere(source) ? UNKNOWN_HERE : html``;
  const total = Math.max(...columns.map((column) => column.total));
  const more = Math.max(...columns.map((column) => column.total - column.flags.length));
  const heads = columns.map(
    (column) =>
      html`${untrusted(column.environment)}
        <span class="soft">${knownSince(column, source, now)}</span>`,
  );
  const title = `flags-${source.name}`;
  return html`<section id="section-${source.name}" data-parts>
    <h3 id="${title}">What ${plural(total, 'flag')} ${total === 1 ? 'serves' : 'serve'}</h3>
    ${filterBar(source, rows)} ${legend(rows)}
    <div
      class="rows"
      id="rows-${source.name}"
      role="region"
      aria-label="What flags of ${source.name} serve"
      tabindex="0"
      data-parts
    >
      ${matrixOf(
        ['Flag', ...heads],
        rows.map((row) => rowOf(row, source, now)),
        html`id="matrix-${source.name}" data-parts`,
      )}
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
    ${places.map((place) => placeCell(place.environment, stateOfPlace(place, now)))}
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
  const next = nextStep(ramp);
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
