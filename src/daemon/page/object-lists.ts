import { html, type Html } from '../../platform/html.js';
import type { ChangeDocument, LiveKillDocument, PlanDocument } from '../../report/json/plan.js';
import { plainText } from '../../report/text/layout.js';
import { fieldLabel, fieldLines } from '../../report/view/field.js';
import { LIVE_KILLS_TITLE, reminderText, sinceText } from '../../report/view/sentences.js';
import { WHY_WORDS } from '../../report/view/words.js';
import { plural } from '../../report/values.js';
import type { SourceView } from '../view.js';
import { isApplied, isDrift, newestPlan, newestPlanned } from '../health.js';
import { forgePages } from './forge-pages.js';
import { linkTo, moment, untrusted } from './phrases.js';

/** Only of the newest run: errors of older commits no longer matter. */
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

/** From the newest specs that could be read. */
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

/** Things that the specs want looked at again by now. */
export function reminderList({ reminders = [] }: Pick<PlanDocument, 'reminders'>): Html {
  return listUnder(
    'To be looked at again',
    reminders.map((each) => untrusted(reminderText(each))),
  );
}

const MOST_SHOWN = 50;

export function liveKillList(kills: readonly LiveKillDocument[]): Html {
  const items = kills.map(
    (kill) => html`<strong>${untrusted(kill.id)}</strong>: ${sinceText(kill)}`,
  );
  return listUnder(LIVE_KILLS_TITLE, items, MOST_SHOWN);
}

/** Held changes, each with its value on the service and its value in git. */
export function withheldList(source: SourceView): Html {
  const plan = newestPlan(source);
  const items = (plan?.withheld ?? []).map((each) => {
    const { why, wayOut } = each;
    return html`${deedOf(each)} ${nameOf(each, source)}: ${WHY_WORDS[why]} ${differenceOf(each)}
      <div class="soft">→ ${untrusted(wayOut)}</div>`;
  });
  return listUnder('Withheld', items, MOST_SHOWN);
}

/** Changes of the newest plan that are not on the service, because they failed or wait. */
export function unwrittenList(source: SourceView): Html {
  const open = newestPlan(source)?.changes.filter((change) => !isApplied(change)) ?? [];
  const items = open.map((change) => {
    const { reason, error } = change;
    const why = error === undefined ? [] : html`<div>failed: ${untrusted(error.message)}</div>`;
    const outside = isDrift(change) ? ', changed outside git' : '';
    return html`${deedOf(change)} ${nameOf(change, source)}: ${reason}${outside}
    ${differenceOf(change)} ${why}`;
  });
  return listUnder('Not written', items, MOST_SHOWN);
}

/** From the newest run that listed the names. */
export function unmanagedList({ runs, name }: SourceView, now: number): Html {
  const run = runs.find(({ unmanaged }) => unmanaged !== undefined);
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

function listUnder(title: string, items: readonly Html[], most = items.length): Html {
  if (items.length === 0) return html``;
  const more = items.length - most;
  return html`<h3>${title}</h3>
    <ul class="held">
      ${items.slice(0, most).map((item) => html`<li>${item}</li>`)}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: see the plan of the last run</li>` : []}
    </ul>`;
}

function deedOf({ action, archive }: ChangeDocument): string {
  return archive ? 'archive' : action;
}

/** The object, with a link to its line where the source is on a forge. */
function nameOf({ id, file, line }: ChangeDocument, source: SourceView): Html {
  const commit = newestPlan(source)?.revision.commit ?? '';
  const pages = file === null ? null : forgePages(source.location);
  return html`<strong
    >${linkTo(pages?.file(commit, file ?? '', line) ?? null, untrusted(id))}</strong
  >`;
}

const MOST_FIELDS = 10;

/** Values on the service and in git, field by field, in the words of the text report. */
function differenceOf({ fields, keys }: ChangeDocument): readonly Html[] {
  const lines = fields.flatMap(({ path, reason, before, after, keys: counts }) => {
    if (counts !== undefined) return [`${fieldLabel(path)}: ${countsText(counts)}`];
    const field = {
      path,
      reason,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    };
    return fieldLines(field, { showKeys: false }).map(plainText);
  });
  const all = [...lines, ...(keys === undefined ? [] : [countsText(keys)])];
  const more = all.length - MOST_FIELDS;
  const shown =
    more > 0 ? [...all.slice(0, MOST_FIELDS), `and ${plural(more, 'more', 'more')}`] : all;
  return shown.map((line) => html`<div>${untrusted(line)}</div>`);
}

function countsText({ added, removed }: { added: number; removed: number }): string {
  return `+${String(added)} −${String(removed)} keys`;
}
