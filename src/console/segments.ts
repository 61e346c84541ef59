import { html } from '../platform/html.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import { searchKeys } from '../service/store/keys.js';
import {
  findActivation,
  listSegments,
  type StoredActivation,
  type StoredSegment,
} from '../service/store/segments.js';
import { find } from '../service/http/place.js';
import {
  consolePage,
  linesOfText,
  linkTo,
  offsetPager,
  pager,
  searchForm,
  environmentsOf,
  numberGiven,
  type Visit,
} from './layout.js';

const SEGMENTS_AT_ONCE = 50;
const KEYS_AT_ONCE = 200;

export async function showSegments(visit: Visit): Promise<string> {
  const { db, workspace } = visit;
  const environments = await environmentsOf(visit);
  const page = { offset: numberGiven(visit, 'offset'), limit: SEGMENTS_AT_ONCE };
  const { rows, totalCount } = await listSegments(db, workspace.id, page);
  const articles = [];
  for (const segment of rows) {
    const active = [];
    for (const { id } of environments) {
      const activation = await findActivation(db, id, segment.name);
      if (activation !== undefined) active.push(activation);
    }
    articles.push(articleOf(workspace.id, segment, active));
  }
  return consolePage(
    visit,
    'Segments',
    html`<p class="soft">${plural(totalCount, 'segment')}</p>
      ${articles} ${offsetPager('/console/segments', workspace.id, { ...page, q: '', totalCount })}`,
  );
}

function articleOf(ws: string, segment: StoredSegment, active: readonly StoredActivation[]) {
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
}

/**
 * Keys of a segment in one environment, after the last one of the page before, so that the last page of a large segment
 * is as fast as the first.
 */
export async function showKeys(visit: Visit): Promise<string> {
  const { db, given, request, workspace } = visit;
  const { environment, activation } = await find('activation', db, request);
  const q = given.get('q') ?? '';
  const wanted = { contains: q, after: given.get('after') ?? '', limit: KEYS_AT_ONCE + 1 };
  const found = await searchKeys(db, activation.activation_id, wanted);
  const keys = found.slice(0, KEYS_AT_ONCE);
  const next = found.length > KEYS_AT_ONCE ? keys.at(-1) : undefined;
  const query = { ws: workspace.id, environment: environment.id, segment: activation.name };
  return consolePage(
    visit,
    `${clean(activation.name)} in ${clean(environment.name)}`,
    html`<p class="soft">${plural(activation.key_count, 'key')}</p>
      ${searchForm('/console/keys', 'Part of a key', q, query)}
      ${keys.length === 0 ? html`<p>No such key.</p>` : []}
      <ul class="keys" aria-label="Keys">
        ${keys.map((key) => html`<li>${clean(key)}</li>`)}
      </ul>
      ${pager({
        'More keys':
          next === undefined ? null : linkTo('/console/keys', { ...query, q, after: next }),
      })}`,
  );
}
