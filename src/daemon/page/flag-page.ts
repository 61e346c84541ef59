import { keyOf, keyOfId } from '../../model/ref.js';
import { html, type Html } from '../../platform/html.js';
import { definitionBlock, rampSteps, lineHtml } from '../../report/html/parts.js';
import type { ChangeDocument } from '../../report/json/plan.js';
import { ACTIONS } from '../../report/plan-report.js';
import { clean } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { fieldLines } from '../../report/view/field.js';
import { whyText } from '../../report/view/verdict.js';
import { isApplied } from '../health.js';
import type { StandingView } from '../standings.js';
import type { LiveFlag, RunRecord, Serving, SourceView } from '../view.js';
import {
  flagRows,
  stateMark,
  STATES,
  type FlagPlace,
  type FlagRow,
  type RampView,
} from './matrix.js';
import { forgePages, commitOf, linkTo, moment, subjectOf, untrusted, subPage } from './phrases.js';
import { rowList, wayOut } from './object-lists.js';

export function flagPage(source: SourceView, name: string, now: number): string | null {
  const row = flagRows(source).find((each) => each.name === name);
  if (row === undefined) return null;
  return subPage(
    `${clean(name)} · ${clean(source.name)}`,
    '../../',
    html`<h1>${untrusted(name)}</h1>
      <div class="places">${row.places.map((place) => placeSection(place, source, now))}</div>
      ${openSection(row, source)} ${writesSection(row, source, now)}`,
  );
}

function placeSection(place: FlagPlace, source: SourceView, now: number): Html {
  const { environment, live, standing } = place;
  return html`<section class="sheet">
    <h2>${untrusted(environment)}</h2>
    ${statesOf(place)}
    ${live === null ? html`<p class="soft">not declared here</p>` : liveBlock(live, place, source, now)}
    ${place.ramps.map(rampOf)} ${remedyOf(standing?.standing)}
  </section>`;
}

function remedyOf(standing: StandingView['standing'] | undefined): Html {
  const { remedy } = { remedy: null, ...standing };
  return remedy === null ? html`` : html`<p>${wayOut(remedy)}</p>`;
}

function statesOf({ states, standing, isKilledByHand }: FlagPlace): Html[] {
  // The definition says itself that it is killed.
  const shown = states.filter((state) => state !== 'killed' || isKilledByHand);
  return shown.map((state) => html`<p>${stateMark(state)} ${stateWords(state, standing)}</p>`);
}

function stateWords(
  state: FlagPlace['states'][number],
  standing: FlagPlace['standing'],
): string | Html {
  if (state === standing?.standing.is) return whyText(standing.standing);
  return state === 'killed' ? 'killed on the service, not ordered by git' : STATES[state].word;
}

function liveBlock(live: LiveFlag, { states }: FlagPlace, source: SourceView, now: number): Html {
  const { serves, seenAt, file, line } = live;
  const page = forgePages(source.location)?.file(source.applied?.commit ?? '', file, line) ?? null;
  const seen = states.includes('unknown') ? 'Last seen' : 'As of';
  return html`${serves === null ? html`<p>not on the service</p>` : definitionBlock(shown(serves))}
    <p class="soft">${seen} ${moment(seenAt, now)}</p>
    <p>${linkTo(page, untrusted(`${file}:${String(line)}`))}</p>`;
}

function shown({ shares, rules, ruleTexts = [], ...serving }: Serving) {
  const more = rules - ruleTexts.length;
  const rest = more > 0 ? [`${ruleTexts.length > 0 ? 'and ' : ''}${plural(more, 'rule')}`] : [];
  return { ...serving, rules: [...ruleTexts, ...rest], defaultRule: shares };
}

function rampOf({ rule, treatment, steps, step, served, held }: RampView): Html {
  const where = rule === null ? '' : `, rule ${String(rule + 1)}`;
  const label = `Ramp of ${clean(treatment)}${where}${held === null ? '' : `: held, ${clean(held)}`}`;
  return rampSteps(
    label,
    steps.map(({ percent, dueText, due }, at) => {
      const isReached = served !== null && percent <= served;
      const otherwise = isReached ? 'done' : (dueText ?? due ?? 'later');
      const words = at >= step && percent === served ? 'now' : otherwise;
      return { percent, words, isReached };
    }),
  );
}

function openSection({ name }: FlagRow, source: SourceView): Html {
  const list = rowList(source, ({ subject }) => keyOfId(subject) === keyOf('flag', name));
  return html`<section class="sheet" aria-labelledby="open">
    <h2 id="open">Open</h2>
    ${list ?? html`<p class="soft">nothing</p>`}
  </section>`;
}

const MOST_WRITES = 20;

function writesSection({ name }: FlagRow, source: SourceView, now: number): Html {
  const writes = source.runs.flatMap((run) =>
    (run.plan?.changes ?? [])
      .filter((change) => keyOfId(change.id) === keyOf('flag', name) && isApplied(change))
      .map((change) => html`<li>${writeOf(change, run, source.location, now)}</li>`),
  );
  return html`<section class="sheet" aria-labelledby="writes">
    <h2 id="writes">Last writes</h2>
    ${
      writes.length === 0
        ? html`<p class="soft">none in the runs kept</p>`
        : html`<ol class="held">
            ${writes.slice(0, MOST_WRITES)}
          </ol>`
    }
  </section>`;
}

function writeOf(change: ChangeDocument, run: RunRecord, location: string, now: number): Html {
  const { action, environment, title, fields } = change;
  const subject = title ?? run.subject;
  const lines = fields.flatMap(({ path, reason, before, after }) =>
    before === undefined && after === undefined
      ? []
      : fieldLines({ path, reason, before, after }, { showKeys: false }),
  );
  return html`<strong>${untrusted(environment ?? 'the flag itself')}</strong>
    ${ACTIONS[action].done}
    <a href="../../runs/${encodeURIComponent(run.id)}">${moment(run.startedAt, now)}</a>
    ${action === 'update' ? lines.map((line) => html`<div>${lineHtml(line)}</div>`) : []}
    <div class="soft">
      ${subject === null ? [] : subjectOf(subject, location)}
      ${run.commit === null ? [] : html`by a run of ${commitOf(run.commit, location)}`}
    </div>`;
}
