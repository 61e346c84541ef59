import { definitionFromWire } from '../model/flag/wire.js';
import { html, type Html } from '../platform/html.js';
import { definitionBlock, ruleTexts } from '../report/html/definition.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import type { AuditEntry } from '../service/store/audit.js';
import { wireDefinition, type StoredDefinition } from '../service/store/definitions.js';
import type { StoredFlag } from '../service/store/flags.js';
import type { EnvironmentRow } from '../service/store/tables.js';
import {
  consolePage,
  linesOfText,
  linkTo,
  offsetPager,
  searchForm,
  type ListPart,
  type Place,
} from './layout.js';
import { entryItem } from './pages.js';

/** A flag with its definition in each environment; null where it has none. */
export interface FlagRow {
  readonly flag: StoredFlag;
  readonly cells: readonly {
    readonly environment: EnvironmentRow;
    readonly definition: StoredDefinition | null;
  }[];
}

/**
 * Flags with all environments side by side. Each flag is a heading with one heading for each environment below it, so
 * that a screen reader follows the order on the screen. On a telephone environments are below each other.
 */
export function flagsPage(place: Place, articles: readonly Html[], part: ListPart): string {
  const ws = place.workspace.id;
  return consolePage(
    place,
    'Flags',
    html`${searchForm('/', 'Part of the name', part.q, { ws })}
      <p class="soft">${plural(part.totalCount, 'flag')}</p>
      ${articles} ${offsetPager('/', ws, part)}`,
  );
}

/**
 * Status, traffic type and tags of a flag in one line, and below it the treatments that it serves in each environment.
 */
export function flagArticle({ flag, cells }: FlagRow, ws: string): Html {
  return html`<article class="sheet">
    <h2><a href="${linkTo('/console/flag', { ws, flag: flag.name })}">${clean(flag.name)}</a></h2>
    ${factsOf(flag)} ${placesOf(cells, ws)}
  </article>`;
}

/** One flag: what it serves in each environment, and its history. @param entries null if the key may not read the log. */
export function flagPage(
  place: Place,
  { flag, cells }: FlagRow,
  entries: readonly AuditEntry[] | null,
): string {
  const ws = place.workspace.id;
  const history =
    entries === null
      ? html`<p class="soft">This key is restricted to environments and cannot read the log.</p>`
      : html`<ol class="log" aria-label="Changes">
            ${entries.map(entryItem)}
          </ol>
          <p>
            <a href="${linkTo('/console/log', { ws, object: `flag/${flag.name}` })}"
              >log of ${clean(flag.name)}</a
            >
          </p>`;
  return consolePage(
    place,
    clean(flag.name),
    html`<section class="sheet" aria-labelledby="environments">
        ${factsOf(flag)}
        <h2 id="environments">Environments</h2>
        ${placesOf(cells, ws)}
      </section>
      <section class="sheet" aria-labelledby="history">
        <h2 id="history">History</h2>
        ${history}
      </section>`,
  );
}

function factsOf(flag: StoredFlag): Html {
  const facts = [flag.rollout_status_name, flag.traffic_type_name, ...tagsOf(flag)].map(clean);
  return html`<p>${linesOfText(flag.description)}</p>
    <p class="soft">${facts.join(' · ')}</p>`;
}

function placesOf(cells: FlagRow['cells'], ws: string): Html {
  return html`<div class="side">
    ${cells.map(
      ({ environment, definition }) =>
        html`<section>
          <h3>${environmentText(environment)}</h3>
          ${definition === null ? html`<p class="soft">no definition</p>` : definitionPart(definition, ws)}
        </section>`,
    )}
  </div>`;
}

/** The environment's name, marked as production if the name does not say so. */
function environmentText({ name, production }: EnvironmentRow): string {
  const isTold = production === 0 || name.toLowerCase().includes('production');
  return isTold ? clean(name) : `${clean(name)} (production)`;
}

function tagsOf({ tags_json }: Pick<StoredFlag, 'tags_json'>): string[] {
  return (JSON.parse(tags_json) as string[]).map((tag) => `#${tag}`);
}

/**
 * The treatments that a definition serves, in the words of the catalogue; targeted keys are counted. The link names its
 * action and the flag.
 */
function definitionPart(stored: StoredDefinition, ws: string): Html {
  const { targets, ...definition } = definitionFromWire(wireDefinition(stored));
  const keys = Object.values(targets).reduce((sum, each) => sum + each.length, 0);
  const word = definition.killed ? 'Restore' : 'Kill';
  const query = { ws, environment: stored.environment_id, flag: stored.flag_name };
  const rules = ruleTexts(definition.rules);
  return html`${requestNote(stored, ws)}${definitionBlock({ ...definition, rules, targets: keys })}
    <p>
      <a href="${linkTo('/console/switch', query)}"
        >${word} ${clean(stored.flag_name)} in ${clean(stored.environment_name)}…</a
      >
    </p>`;
}

/** Until the request is decided, the service refuses other changes here than kills and restores. */
function requestNote({ open_change_request_id: id }: StoredDefinition, ws: string): Html {
  if (id === null) return html``;
  return html`<p class="waits">
    <span aria-hidden="true">◷</span>
    <a href="${linkTo('/console/request', { ws, id })}">A change request is open</a>
  </p>`;
}
