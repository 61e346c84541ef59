import { isDeepStrictEqual } from 'node:util';
import { definitionFromWire } from '../model/flag/wire.js';
import { isRecord } from '../model/json.js';
import type { FieldChange } from '../model/plan.js';
import { html, type Html } from '../platform/html.js';
import { foldedHtml } from '../report/html/parts.js';
import { clean } from '../report/sanitize.js';
import { noBreak, span, type FieldLine } from '../report/text/layout.js';
import { itemText, plural } from '../report/values.js';
import { fieldLabel, fieldLines } from '../report/view/field.js';
import type { KeysChange, MemberChange } from '../service/change-log.js';
import { checkMayChangeWorkspace } from '../service/http/place.js';
import { objectNamed } from '../service/routes/access.js';
import { listAudit, type AuditEntry } from '../service/store/audit.js';
import {
  consolePage,
  hiddenFields,
  linkTo,
  numberGiven,
  pager,
  timeText,
  wordsOf,
  type Visit,
} from './layout.js';

export const ENTRIES_AT_ONCE = 50;

export async function showLog(visit: Visit): Promise<string> {
  const { db, given, request, workspace } = visit;
  // As in the interface: the log contains changes in all environments.
  checkMayChangeWorkspace(request);
  const object = given.get('object') ?? '';
  const before = numberGiven(visit, 'before');
  const filter = {
    workspaceId: workspace.id,
    ...objectNamed(object),
    ...(before > 0 && { before }),
  };
  const page = { offset: 0, limit: ENTRIES_AT_ONCE };
  const { rows, totalCount } = await listAudit(db, filter, page);
  const older = totalCount > rows.length ? rows.at(-1)?.id : undefined;
  const ws = workspace.id;
  const form = html`<form class="line" method="get" action="/console/log">
    ${hiddenFields({ ws })}
    <label
      >Object<br /><input name="object" value="${object}" placeholder="flag/new-checkout"
    /></label>
    <button>Show</button>
  </form>`;
  return consolePage(
    visit,
    'Log',
    html`${form} ${rows.length === 0 ? html`<p>Nothing was changed.</p>` : []}
      <ol class="log sheet" aria-label="Changes">
        ${rows.map(entryItem)}
      </ol>
      ${pager({
        Older: older === undefined ? null : linkTo('/console/log', { ws, object, before: older }),
      })}`,
  );
}

/** The difference is folded, because it may have many members. */
export function entryItem(entry: AuditEntry): Html {
  const place = entry.environment === null ? '' : `@${entry.environment}`;
  const lines = serviceChangeLines(entry);
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

/** Everything is shown in full: the log is where people look for what a review has cut. */
const CONTEXT = { showKeys: true, inFull: true } as const;

/** A change that the service recorded, in the words in which a plan has it; one or more lines for each difference. */
export function serviceChangeLines({ difference }: Pick<AuditEntry, 'difference'>): FieldLine[] {
  const all = difference as (MemberChange | KeysChange)[];
  return all.flatMap((each) => ('sample' in each ? [keysLine(each)] : memberLines(each)));
}

function keysLine({ path, added, removed, sample }: KeysChange): FieldLine {
  const some = (sign: string, count: number, first: readonly string[]): string[] =>
    count === 0 ? [] : [`${sign} ${itemText(first, Infinity)}${count > first.length ? ', …' : ''}`];
  const parts = [
    ...some('+', added, sample.slice(0, added)),
    ...some('−', removed, sample.slice(added)),
  ];
  const counts = noBreak(`+${String(added)} −${String(removed)} keys`);
  return [span(`${fieldLabel(path)}:`, 'strong'), span(` ${counts}: ${parts.join('; ')}`)];
}

/** Two values that a spec writes alike still differ on the service: then both are shown as the service has them. */
function memberLines({ path, before, after }: MemberChange): readonly FieldLine[] {
  const field: FieldChange = {
    path,
    reason: 'commit',
    before: inWordsOfSpecs(path, before),
    after: inWordsOfSpecs(path, after),
  };
  const isSame = isDeepStrictEqual(field.before, field.after);
  return fieldLines(isSame ? { ...field, before, after } : field, CONTEXT);
}

const EMPTY = {
  killed: false,
  treatments: [],
  defaultTreatment: '',
  baselineTreatment: '',
  trafficAllocation: 0,
  rules: [],
  defaultRule: [],
};

/** A value of the interface as specs have it; the value itself where specs have no form of their own. */
function inWordsOfSpecs(path: string, value: unknown): unknown {
  const name = path.slice(1);
  if (name === 'tags' && Array.isArray(value)) {
    return value.map((tag: unknown) => (isRecord(tag) ? tag['name'] : tag));
  }
  if (name === 'rolloutStatus' && isRecord(value)) return value['name'];
  if (!Array.isArray(value) || !['treatments', 'rules', 'defaultRule'].includes(name)) return value;
  return definitionFromWire({ ...EMPTY, [name]: value })[name as 'rules'];
}
