import { html, type Html } from '../platform/html.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import { foldedHtml } from '../report/html/rows.js';
import { serviceChangeLines } from '../report/view/service-change.js';
import type { KeysChange, MemberChange } from '../service/rules/difference.js';
import type { AuditEntry } from '../service/store/audit.js';
import { wireDefinition, type StoredDefinition } from '../service/store/definitions.js';
import type { StoredActivation, StoredSegment } from '../service/store/segments.js';
import {
  consolePage,
  linesOfText,
  linkTo,
  offsetPager,
  pager,
  searchForm,
  timeText,
  tokenField,
  wordsOf,
  type ListPart,
  type Place,
} from './layout.js';

/**
 * Asks for the reason before a flag is killed or restored. The current state of the flag decides which of the two it
 * is, so the page shows first if someone else has just changed it.
 */
export function switchPage(place: Place, stored: StoredDefinition): string {
  const { flag_name: flag, environment_name: environment, environment_id, killed } = stored;
  const word = killed === 1 ? 'Restore' : 'Kill';
  const { defaultTreatment } = wireDefinition(stored);
  const says =
    killed === 1
      ? 'Its rules decide again who gets what.'
      : `Everybody gets ${clean(defaultTreatment)} at once, whatever its rules say.`;
  return consolePage(
    place,
    `${word} ${clean(flag)} in ${clean(environment)}`,
    html`<div class="sheet">
      <p>${says}</p>
      <form method="post" action="/console/${killed === 1 ? 'restore' : 'kill'}">
        ${tokenField(place.session)}
        <input type="hidden" name="ws" value="${place.workspace.id}" />
        <input type="hidden" name="environment" value="${environment_id}" />
        <input type="hidden" name="flag" value="${flag}" />
        <label for="reason">Reason, for the audit log</label>
        <textarea id="reason" name="reason" required maxlength="2000" autofocus></textarea>
        <p>
          <button>${word}</button>
          <a href="${linkTo('/', { ws: place.workspace.id, q: flag })}">Leave it</a>
        </p>
      </form>
    </div>`,
  );
}

/** Segments by name, each with the environments in which it is active and the number of keys there. */
export function segmentsPage(
  place: Place,
  segments: readonly {
    readonly segment: StoredSegment;
    readonly active: readonly StoredActivation[];
  }[],
  part: ListPart,
): string {
  const ws = place.workspace.id;
  const items = segments.map(({ segment, active }) => {
    const counts = active.map(
      ({ environment_id, environment_name, key_count }) =>
        html`<li>
          <a
            href="${linkTo('/console/keys', { ws, environment: environment_id, segment: segment.name })}"
            >${clean(environment_name)}: ${plural(key_count, 'key')}</a
          >
        </li>`,
    );
    return html`<article class="sheet">
      <h2>${clean(segment.name)}</h2>
      <p>${linesOfText(segment.description)}</p>
      ${
        counts.length === 0
          ? html`<p class="soft">active in no environment</p>`
          : html`<ul>
              ${counts}
            </ul>`
      }
    </article>`;
  });
  return consolePage(
    place,
    'Segments',
    html`<p class="soft">${plural(part.totalCount, 'segment')}</p>
      ${items} ${offsetPager('/console/segments', ws, part)}`,
  );
}

/**
 * Keys of a segment in one environment. @param next the key after which the next page begins; null on the last page.
 */
export function keysPage(
  place: Place,
  activation: StoredActivation,
  found: { readonly q: string; readonly keys: readonly string[]; readonly next: string | null },
): string {
  const { q, keys, next } = found;
  const { name: segment, environment_id: environment, key_count } = activation;
  const query = { ws: place.workspace.id, environment, segment };
  return consolePage(
    place,
    `${clean(segment)} in ${clean(activation.environment_name)}`,
    html`<p class="soft">${plural(key_count, 'key')}</p>
      ${searchForm('/console/keys', 'Part of a key', q, query)}
      ${keys.length === 0 ? html`<p>No such key.</p>` : []}
      <ul class="keys" aria-label="Keys">
        ${keys.map((key) => html`<li>${clean(key)}</li>`)}
      </ul>
      ${pager({
        'More keys': next === null ? null : linkTo('/console/keys', { ...query, q, after: next }),
      })}`,
  );
}

/** Changes, the newest first. @param older id of the last entry shown; null if it has none before it. */
export function logPage(
  place: Place,
  entries: readonly AuditEntry[],
  { object, older }: { readonly object: string; readonly older: number | null },
): string {
  const ws = place.workspace.id;
  const form = html`<form class="line" method="get" action="/console/log">
    <input type="hidden" name="ws" value="${ws}" />
    <label
      >Object<br /><input name="object" value="${object}" placeholder="flag/new-checkout"
    /></label>
    <button>Show</button>
  </form>`;
  return consolePage(
    place,
    'Log',
    html`${form} ${entries.length === 0 ? html`<p>Nothing was changed.</p>` : []}
      <ol class="log sheet" aria-label="Changes">
        ${entries.map(entryItem)}
      </ol>
      ${pager({ Older: older === null ? null : linkTo('/console/log', { ws, object, before: older }) })}`,
  );
}

/** One change. Its difference is folded, because it may have many members. */
export function entryItem(entry: AuditEntry): Html {
  const place = entry.environment === null ? '' : `@${entry.environment}`;
  const lines = serviceChangeLines(entry.difference as (MemberChange | KeysChange)[]);
  return html`<li>
    <p>
      ${timeText(entry.time)}
      <strong>${entry.action}</strong> ${clean(`${entry.kind}/${entry.name}${place}`)}
      <span class="soft">by <bdi>${clean(entry.keyName ?? 'nobody that is known')}</bdi></span>
    </p>
    ${wordsOf(entry)}
    <details>
      <summary>${plural(entry.difference.length, 'difference')}</summary>
      <ul class="diff">
        ${lines.map((line) => html`<li>${foldedHtml(line)}</li>`)}
      </ul>
    </details>
  </li>`;
}
