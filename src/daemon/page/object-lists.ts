import { html, type Html } from '../../platform/html.js';
import type { LiveKillDocument, PlanDocument, WithheldDocument } from '../../report/json/plan.js';
import { WHY_WORDS } from '../../report/text/change/change.js';
import { fieldLabel, fieldLines } from '../../report/text/change/field.js';
import { LIVE_KILLS_TITLE, sinceText } from '../../report/text/live-kills.js';
import { reminderText } from '../../report/text/reminders.js';
import { plural } from '../../report/values.js';
import type { SourceView } from '../view.js';
import { untrusted } from './phrases.js';

/** Of the newest run alone: what an older commit had wrong is mended. */
export function diagnosticList({ runs: [newest] }: SourceView): Html {
  const diagnostics = newest?.diagnostics ?? [];
  if (diagnostics.length === 0) return html``;
  return html`<h3>Wrong in the specs</h3>
    <ul class="held">
      ${diagnostics.map(
        ({ severity, code, file, line, column, message }) =>
          html`<li>
            <strong>${untrusted(`${file}:${String(line)}:${String(column)}`)}</strong>
            ${severity} <code>${untrusted(code)}</code>
            <div>${untrusted(message)}</div>
          </li>`,
      )}
    </ul>`;
}

/** As the newest specs that could be read have it. */
export function orderedKillList({ runs }: SourceView): Html {
  const kills = runs.find(({ plan }) => plan !== null)?.kills ?? [];
  if (kills.length === 0) return html``;
  return html`<h3>Killed by git</h3>
    <ul class="held">
      ${kills.map(({ id, reason, by, since }) => {
        const facts = [
          reason ?? 'its file says killed: true',
          ...(by === null ? [] : [`by ${by}`]),
          ...(since === null ? [] : [`since ${since}`]),
        ];
        return html`<li><strong>${untrusted(id)}</strong>: ${untrusted(facts.join(', '))}</li>`;
      })}
    </ul>`;
}

/** What the specs wanted looked at again by now. */
export function reminderList({ reminders = [] }: Pick<PlanDocument, 'reminders'>): Html {
  if (reminders.length === 0) return html``;
  return html`<h3>To be looked at again</h3>
    <ul class="held">
      ${reminders.map((each) => html`<li>${untrusted(reminderText(each))}</li>`)}
    </ul>`;
}

const MOST_WITHHELD = 50;

export function liveKillList(kills: readonly LiveKillDocument[]): Html {
  if (kills.length === 0) return html``;
  const more = kills.length - MOST_WITHHELD;
  return html`<h3>${LIVE_KILLS_TITLE}</h3>
    <ul class="held">
      ${kills
        .slice(0, MOST_WITHHELD)
        .map((kill) => html`<li><strong>${untrusted(kill.id)}</strong>: ${sinceText(kill)}</li>`)}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: see the plan of the last run</li>` : []}
    </ul>`;
}

export function withheldList(withheld: readonly WithheldDocument[]): Html {
  if (withheld.length === 0) return html``;
  const more = withheld.length - MOST_WITHHELD;
  return html`<h3>Withheld</h3>
    <ul class="held">
      ${withheld.slice(0, MOST_WITHHELD).map(
        ({ id, action, why, wayOut, fields, keys }) =>
          html`<li>
            ${action} <strong>${untrusted(id)}</strong>: ${WHY_WORDS[why]}
            ${differenceOf(fields, keys).map((line) => html`<div>${untrusted(line)}</div>`)}
            <div class="soft">→ ${untrusted(wayOut)}</div>
          </li>`,
      )}
      ${more > 0 ? html`<li>and ${plural(more, 'more', 'more')}: see the plan of the last run</li>` : []}
    </ul>`;
}

const MOST_FIELDS = 10;

/** What is on the service, and what git has in its place, field by field in the words of the text report. */
function differenceOf(
  fields: WithheldDocument['fields'],
  keys: WithheldDocument['keys'],
): readonly string[] {
  const lines = fields.flatMap(({ path, reason, before, after, keys: counts }) => {
    if (counts !== undefined) return [`${fieldLabel(path)}: ${countsText(counts)}`];
    const field = {
      path,
      reason,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    };
    return fieldLines(field, { showKeys: false }).map((line) =>
      line.map(({ text }) => text).join(''),
    );
  });
  const all = [...lines, ...(keys === undefined ? [] : [countsText(keys)])];
  const more = all.length - MOST_FIELDS;
  return more > 0 ? [...all.slice(0, MOST_FIELDS), `and ${plural(more, 'more', 'more')}`] : all;
}

function countsText({ added, removed }: { added: number; removed: number }): string {
  return `+${String(added)} −${String(removed)} keys`;
}
