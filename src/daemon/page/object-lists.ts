import { html, type Html } from '../../platform/html.js';
import { rowHtml } from '../../report/html/parts.js';
import type { FirstRows, PlacedRow } from '../../report/view/plan-view.js';
import type { Row } from '../../report/view/row.js';
import type { Remedy } from '../../model/remedy.js';
import { STANDINGS } from '../../model/verdict.js';
import { remedyText, whyText } from '../../report/view/verdict.js';
import { LIVE_KILLS_TITLE, sinceText } from '../../report/view/sentences.js';
import { plural } from '../../report/values.js';
import type { SourceView } from '../view.js';
import { newestFull, newestPlanned } from '../health.js';
import { forgePages, linkTo, moment, untrusted } from './phrases.js';

/** The diagnostics of the newest run: errors of older commits no longer matter. */
export function diagnosticList({ runs: [newest], location }: SourceView): Html {
  const { diagnostics = [], commit = null } = newest ?? {};
  const items = diagnostics.map(({ severity, code, file, line, column, message }) => {
    const page = forgePages(location)?.file(commit ?? '', file, line) ?? null;
    const place = untrusted(`${file}:${String(line)}:${String(column)}`);
    return html`<strong>${linkTo(page, place)}</strong> ${severity} <code>${untrusted(code)}</code>
      <div>${untrusted(message)}</div>`;
  });
  return listUnder('Wrong in the specs', items);
}

/** The kills that the newest readable specs order. */
export function orderedKillList({ runs }: SourceView): Html {
  const kills = newestPlanned(runs)?.kills ?? [];
  const items = kills.map(({ id, reason, by, since }) => {
    const facts = [
      reason ?? 'its file says killed: true',
      ...(by === null ? [] : [`by ${by}`]),
      ...(since === null ? [] : [`since ${since}`]),
    ];
    return html`<strong>${untrusted(id)}</strong>: ${untrusted(facts.join(', '))}`;
  });
  return listUnder('Killed by git', items);
}

/** `/status` has all of them. */
const MOST_STANDINGS = 50;

export function standingList({ standings }: SourceView, now: number): Html {
  const all = standings?.objects ?? [];
  const worst = STANDINGS.toReversed().flatMap((name) =>
    all.filter(({ standing }) => standing.is === name),
  );
  const items = worst.slice(0, MOST_STANDINGS).map(({ id, standing, asOf }) => {
    const { until, since, remedy } = { until: null, since: null, remedy: null, ...standing };
    return html`<strong>${untrusted(id)}</strong>
      ${whyText('until' in standing ? { ...standing, until: null } : standing)}${
        until === null ? [] : html`, until ${moment(until, now)}`
      }${since === null ? [] : html`, since ${moment(since, now)}`}
      <span class="soft">as of ${moment(asOf, now)}</span>${
        remedy === null ? [] : html`<div>${wayOut(remedy)}</div>`
      }`;
  });
  return listUnder('Not as git orders', items, all.length);
}

/** Characters: a command that is cut would do something else. */
const LONGEST_WAY = 4_000;

export function wayOut(remedy: Remedy): Html {
  const parts = remedyText(remedy).split('`');
  const shown = parts.map((part, at) => {
    const text = untrusted(part, LONGEST_WAY);
    return at % 2 === 0 ? text : html`<code>${text}</code>`;
  });
  return html`→ ${shown}`;
}

export function openLists(source: SourceView): Html {
  const { open } = newestPlanned(source.runs) ?? {};
  if (open === undefined) return html``;
  const rowsUnder = (title: string, { total, rows }: FirstRows): Html =>
    listUnder(
      title,
      rows.map((row) => rowItem(row, source)),
      total,
    );
  return html`${listUnder(
    'To be looked at again',
    open.reminders.map((each) => untrusted(each)),
  )}
  ${listUnder(
    'Ramps',
    open.ramps.map((each) => untrusted(each)),
  )}
  ${rowsUnder(LIVE_KILLS_TITLE, open.liveKills)} ${rowsUnder('Not written', open.unwritten)}
  ${rowsUnder('Withheld', open.withheld)}`;
}

export function rowList(source: SourceView, isWanted: (row: Row) => boolean): Html | null {
  const { unwritten, withheld, liveKills } = newestPlanned(source.runs)?.open ?? {};
  const lists = [liveKills, unwritten, withheld].flatMap((list) => list?.rows ?? []);
  const items = lists.filter(isWanted).map((row) => rowItem(row, source));
  return items.length === 0 ? null : heldList(items);
}

function rowItem(row: PlacedRow, { runs, location }: SourceView): Html {
  const commit = newestPlanned(runs)?.commit ?? '';
  const { file, line } = row.location ?? {};
  const page = file === undefined ? null : forgePages(location)?.file(commit, file, line ?? null);
  return rowHtml(row, linkTo(page ?? null, untrusted(row.subject)));
}

/** The kills that were known of flags whose files are invalid: no plan has a row for them. */
export function invalidKillList({ liveKills }: SourceView): Html {
  const items = liveKills
    .filter(({ invalid }) => invalid === true)
    .map(
      (kill) =>
        html`<strong>${untrusted(kill.id)}</strong>: ${untrusted(sinceText(kill))}
          <div>→ ${untrusted(kill.wayOut)}</div>`,
    );
  return listUnder(`${LIVE_KILLS_TITLE} (invalid file, as last known)`, items);
}

export function unmanagedList(source: SourceView, now: number): Html {
  const { name } = source;
  const run = newestFull(source);
  const counts = run?.plan?.unmanaged ?? null;
  if (run?.unmanaged === undefined || counts === null || counts.flags + counts.segments === 0) {
    return html``;
  }
  const { flags, segments } = run.unmanaged;
  const all = counts.flags + counts.segments;
  const names = [
    ...flags.map((name) => `flag/${name}`),
    ...segments.map((name) => `segment/${name}`),
  ];
  const more = all - names.length;
  return html`<details id="unmanaged-${name}">
    <summary>
      ${plural(all, 'object')} of the workspace that no file declares
      <span class="soft">as of ${moment(run.startedAt, now)}</span>
    </summary>
    <ul class="names">
      ${names.map((name) => html`<li>${untrusted(name)}</li>`)}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}</li>` : []}
    </ul>
  </details>`;
}

function listUnder(title: string, items: readonly Html[], total?: number): Html {
  if (items.length === 0) return html``;
  return html`<h3>${title}</h3>
    ${heldList(items, total)}`;
}

/** @param total number of items, of which the first are shown. */
export function heldList(items: readonly Html[], total = items.length): Html {
  const more = total - items.length;
  return html`<ul class="held">
    ${items.map((item) => html`<li>${item}</li>`)}
    ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: see the plan of the last run</li>` : []}
  </ul>`;
}
