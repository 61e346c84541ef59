import { setImmediate as letOthersRun } from 'node:timers/promises';
import { definitionFromWire } from '../model/flag/wire.js';
import { html, type Html } from '../platform/html.js';
import { definitionBlock, ruleTexts } from '../report/html/parts.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import { listAudit } from '../service/store/audit.js';
import { openChangeRequests } from '../service/store/change-requests.js';
import {
  findDefinition,
  wireDefinition,
  type StoredDefinition,
} from '../service/store/definitions.js';
import { listFlags, type StoredFlag } from '../service/store/flags.js';
import { searchKeys } from '../service/store/keys.js';
import {
  findActivation,
  listSegments,
  type StoredActivation,
  type StoredSegment,
} from '../service/store/segments.js';
import type { EnvironmentRow } from '../service/store/tables.js';
import { approvedIn, find } from '../service/http/place.js';
import { Problem } from '../service/http/problem.js';
import {
  consolePage,
  linesOfText,
  linkTo,
  offsetPager,
  pager,
  searchForm,
  environmentsOf,
  numberGiven,
  hiddenFields,
  type Visit,
} from './layout.js';
import { ENTRIES_AT_ONCE, entryItem } from './log.js';

const FLAGS_AT_ONCE = 25;

/**
 * Flags with all environments side by side. Each flag is a heading with one heading for each environment below it, so
 * that a screen reader follows the order on the screen. On a telephone environments are below each other.
 */
export async function showFlags(visit: Visit): Promise<string> {
  const { db, given, workspace } = visit;
  const ws = workspace.id;
  const environments = await environmentsOf(visit);
  const q = given.get('q') ?? '';
  const page = { offset: numberGiven(visit, 'offset'), limit: FLAGS_AT_ONCE };
  const { rows, totalCount } = await listFlags(db, ws, { nameContains: q, tags: [] }, page);
  const articles: Html[] = [];
  for (const flag of rows) {
    const { name } = flag;
    articles.push(
      html`<article class="sheet">
        <h2><a href="${linkTo('/console/flag', { ws, flag: name })}">${clean(name)}</a></h2>
        ${factsOf(flag)} ${await placesOf(visit, flag, environments)}
      </article>`,
    );
    // A definition may be a megabyte, so other requests get their turn between two flags.
    await letOthersRun();
  }
  return consolePage(
    visit,
    'Flags',
    html`${searchForm('/', 'Part of the name', q, { ws })}
      <p class="soft">${plural(totalCount, 'flag')}</p>
      ${articles} ${offsetPager('/', ws, { ...page, q, totalCount })}`,
  );
}

export async function showFlag(visit: Visit): Promise<string> {
  const { db, request } = visit;
  const { flag } = await find('flag', db, request);
  const { name } = flag;
  const places = await placesOf(visit, flag, await environmentsOf(visit));
  return consolePage(
    visit,
    clean(name),
    html`<section class="sheet" aria-labelledby="environments">
        ${factsOf(flag)}
        <h2 id="environments">Environments</h2>
        ${places}
      </section>
      <section class="sheet" aria-labelledby="history">
        <h2 id="history">History</h2>
        ${await historyOf(visit, name)}
      </section>`,
  );
}

async function historyOf({ db, request, workspace }: Visit, name: string): Promise<Html> {
  if (request.caller.scope.environments !== null) {
    return html`<p class="soft">
      This key is restricted to environments and cannot read the log.
    </p>`;
  }
  const ws = workspace.id;
  const filter = { workspaceId: ws, kind: 'flag', name };
  const { rows } = await listAudit(db, filter, { offset: 0, limit: ENTRIES_AT_ONCE });
  return html`<ol class="log" aria-label="Changes">
      ${rows.map(entryItem)}
    </ol>
    <p>
      <a href="${linkTo('/console/log', { ws, object: `flag/${name}` })}">log of ${clean(name)}</a>
    </p>`;
}

function factsOf(flag: StoredFlag): Html {
  const tags = (JSON.parse(flag.tags_json) as string[]).map((tag) => `#${tag}`);
  const facts = [flag.rollout_status_name, flag.traffic_type_name, ...tags].map(clean);
  return html`<p>${linesOfText(flag.description)}</p>
    <p class="soft">${facts.join(' · ')}</p>`;
}

async function placesOf(
  { db, workspace }: Visit,
  flag: StoredFlag,
  environments: readonly EnvironmentRow[],
): Promise<Html> {
  const sections: Html[] = [];
  for (const environment of environments) {
    const stored = await findDefinition(db, environment.id, flag.name);
    const [open = null] = stored
      ? [stored.open_change_request_id]
      : await openChangeRequests(db, { workspace, environment }, { kind: 'flag', name: flag.name });
    sections.push(
      html`<section>
        <h3>${environmentText(environment)}</h3>
        ${requestNote(open, workspace.id)}
        ${stored === undefined ? html`<p class="soft">no definition</p>` : definitionPart(stored, workspace.id)}
      </section>`,
    );
  }
  return html`<div class="side">${sections}</div>`;
}

function environmentText({ name, production }: EnvironmentRow): string {
  const isTold = production === 0 || name.toLowerCase().includes('production');
  return isTold ? clean(name) : `${clean(name)} (production)`;
}

/** In the words of the catalogue; targeted keys are counted. The link names its action and the flag. */
function definitionPart(stored: StoredDefinition, ws: string): Html {
  const { targets, ...definition } = definitionFromWire(wireDefinition(stored));
  const keys = Object.values(targets).reduce((sum, each) => sum + each.length, 0);
  const word = definition.killed ? 'Restore' : 'Kill';
  const query = { ws, environment: stored.environment_id, flag: stored.flag_name };
  const rules = ruleTexts(definition.rules);
  return html`${definitionBlock({ ...definition, rules, targets: keys })}
    <p>
      <a href="${linkTo('/console/switch', query)}"
        >${word} ${clean(stored.flag_name)} in ${clean(stored.environment_name)}…</a
      >
    </p>`;
}

/** Until the request is decided, the service refuses other changes here than kills and restores. */
function requestNote(id: string | null, ws: string): Html {
  if (id === null) return html``;
  return html`<p class="waits">
    <span aria-hidden="true">◷</span>
    <a href="${linkTo('/console/request', { ws, id })}">A change request is open</a>
  </p>`;
}

/**
 * Asks for the reason before a flag is killed or restored. The current state of the flag decides which of the two it
 * is, so the page shows first if someone else has just changed it.
 */
export async function showSwitch(visit: Visit): Promise<string> {
  const { db, request, workspace, session } = visit;
  const { environment, stored } = await find('definition', db, request);
  const { flag_name: flag, killed } = stored;
  const word = killed === 1 ? 'Restore' : 'Kill';
  const says =
    killed === 1
      ? 'Its rules decide again who gets what.'
      : `Everybody gets ${clean(wireDefinition(stored).defaultTreatment)} at once, whatever its rules say.`;
  const title = `${word} ${clean(flag)} in ${clean(environment.name)}`;
  try {
    const moves = (): 'restore' | 'kill' => (killed === 1 ? 'restore' : 'kill');
    approvedIn([environment], { request, demands: { approval: true, moves } });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { message, details } = error;
    return consolePage(visit, title, html`<p class="sheet">${clean(`${message}. ${details}`)}</p>`);
  }
  return consolePage(
    visit,
    title,
    html`<div class="sheet">
      <p>${says}</p>
      <form method="post" action="/console/${killed === 1 ? 'restore' : 'kill'}">
        ${hiddenFields({ token: session.formToken, ws: workspace.id, environment: environment.id, flag })}
        <label for="reason">Reason, for the audit log</label>
        <textarea id="reason" name="reason" required maxlength="2000" autofocus></textarea>
        <p>
          <button>${word}</button>
          <a href="${linkTo('/', { ws: workspace.id, q: flag })}">Leave it</a>
        </p>
      </form>
    </div>`,
  );
}

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
    articles.push(segmentArticle(workspace.id, segment, active));
  }
  return consolePage(
    visit,
    'Segments',
    html`<p class="soft">${plural(totalCount, 'segment')}</p>
      ${articles} ${offsetPager('/console/segments', workspace.id, { ...page, q: '', totalCount })}`,
  );
}

function segmentArticle(ws: string, segment: StoredSegment, active: readonly StoredActivation[]) {
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
