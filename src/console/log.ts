import { html, type Html } from '../platform/html.js';
import { foldedHtml } from '../report/html/parts.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import { listAudit, type AuditEntry } from '../service/store/audit.js';
import { checkMayChangeWorkspace } from '../service/http/place.js';
import { objectNamed } from '../service/routes/access.js';
import { serviceChangeLines } from './service-change.js';
import {
  consolePage,
  linkTo,
  pager,
  timeText,
  wordsOf,
  numberGiven,
  hiddenFields,
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
  const { entries, totalCount } = await listAudit(db, filter, page);
  const older = totalCount > entries.length ? entries.at(-1)?.id : undefined;
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
    html`${form} ${entries.length === 0 ? html`<p>Nothing was changed.</p>` : []}
      <ol class="log sheet" aria-label="Changes">
        ${entries.map(entryItem)}
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
