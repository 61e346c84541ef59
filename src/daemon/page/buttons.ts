import { html, type Html } from '../../platform/html.js';
import { namesText, plural, shortSha } from '../../report/values.js';
import { adoptable, heldBy, isApplied, newestPlan, newestPlanned, notApplied } from '../health.js';
import type { CommitView, SourceView, RunRecord } from '../view.js';
import {
  shortened,
  commitOf,
  factList,
  moment,
  subjectOf,
  untrusted,
  type Fact,
} from './phrases.js';
import { heldList } from './object-lists.js';
import { refOfId } from '../../model/ref.js';
import { lineHtml } from '../../report/html/parts.js';
import type { PlanDocument } from '../../report/json/plan.js';
import type { PlacedRow } from '../../report/view/plan-view.js';

/** A `POST` to the daemon with the user's token, sent after a confirmation. */
interface Button {
  readonly label: string;
  readonly path: string;
  /** Describes the effect in whole sentences; untrusted text. null hides the button while it would have no effect. */
  readonly says: (source: SourceView) => string | null;
  readonly asks?: (source: SourceView) => readonly Question[];
  /** Whether the page forgets the token at once, because the request passes guards. */
  readonly wantsTokenEachTime?: true;
  readonly showsEvidence?: true;
  readonly body?: (source: SourceView) => Readonly<Record<string, string>>;
}

/** A member of the body that the user fills in. */
interface Question {
  readonly name: string;
  readonly label: string;
  /** Initial value; an empty optional one is left out of the body. */
  readonly value: string;
  readonly optional?: true;
}

const HOW_LONG: Question = { name: 'for', label: 'For how long (30m, 2h, 1d)', value: '1h' };
const WHY: Question = { name: 'reason', label: 'Why', value: '' };

const BUTTONS: readonly Button[] = [
  {
    label: 'Approve',
    path: 'approve',
    wantsTokenEachTime: true,
    showsEvidence: true,
    says: (source) => {
      const plan = newestPlan(source);
      const { heldHash } = heldBy(source);
      return plan === null || heldHash === null || isApproved(source)
        ? null
        : `${heldText(plan)} The next run writes it, if the plan still has the hash ${heldHash}.`;
    },
    asks: () => [
      { name: 'by', label: 'Your name', value: '' },
      { ...WHY, optional: true },
    ],
    body: (source) => ({ hash: heldBy(source).heldHash ?? '' }),
  },
  {
    label: 'Sync',
    path: 'reconcile',
    says: (source) =>
      source.suspended === null
        ? `Everything is looked at now, and what git says and the service does not have is written. ${waiting(source)}`
        : `Everything is looked at now.${whileSuspended(source.suspended)}`,
  },
  {
    label: 'Suspend',
    path: 'suspend',
    says: ({ suspended }) =>
      suspended === null
        ? 'Nothing but kills is written for this while, and a run under way ends after its request. Commits are planned and reported.'
        : null,
    asks: () => [WHY, HOW_LONG],
  },
  {
    label: 'Resume',
    path: 'resume',
    // Only a commit can end a suspension in the config.
    says: (source) =>
      source.suspended?.until == null
        ? null
        : `The suspension ends ("${source.suspended.reason}"), and changes are written again. ${waiting(source)}`,
  },
  {
    label: 'Pin',
    path: 'pin',
    says: ({ pinned, suspended }) =>
      pinned === null
        ? `This commit is applied for this while, also where it is older than what is on the service; newer commits wait. Kills still come from the newest commit.${whileSuspended(suspended)}`
        : null,
    asks: ({ applied, seen }) => [
      { name: 'commit', label: 'Commit, by its full name', value: (applied ?? seen)?.commit ?? '' },
      WHY,
      HOW_LONG,
    ],
  },
  {
    label: 'Unpin',
    path: 'unpin',
    says: ({ pinned, seen, suspended }) =>
      pinned === null
        ? null
        : `The newest commit is applied again${seen === null ? '' : `: ${commitText(seen)}`}.${whileSuspended(suspended)}`,
  },
  {
    label: 'Adopt',
    path: 'adopt',
    says: (source) => {
      const ids = adoptable(source);
      if (ids.length === 0) return null;
      const [become, their] = ids.length === 1 ? ['becomes', 'its'] : ['become', 'their'];
      return `${plural(ids.length, 'object')} that no run remembers ${become} ours, and what git says is written over ${their} live values: ${namesText(ids, MOST_NAMED)}.`;
    },
    // The daemon refuses to adopt if a newer run has planned since the plan shown.
    body: ({ runs }) => ({ run: newestPlanned(runs)?.id ?? '' }),
  },
];

function whileSuspended(suspended: SourceView['suspended']): string {
  return suspended === null ? '' : ' Nothing but kills is written while the source is suspended.';
}

const MOST_NAMED = 10;
/** Longer than the names of ten objects at the service's limit. */
const LONGEST_SENTENCES = 3_000;

function waiting(source: SourceView): string {
  const count = unwrittenIn(newestPlan(source)?.changes ?? []);
  const left =
    count === 0
      ? 'No change of the last plan is left'
      : `${plural(count, 'change')} of the last plan left`;
  const next = notApplied(source);
  if (next === null) return `${left}.`;
  const pin = source.pinned === null ? 'is not applied yet' : 'waits for the end of the pin';
  return `${left}; ${commitText(next)} ${pin}.`;
}

function commitText({ commit, subject }: CommitView): string {
  return `${shortSha(commit)} "${shortened(subject)}"`;
}

/** Visible only if scripts run: a request needs the token, which a script attaches. */
export function buttonBar(source: SourceView): Html {
  const shown = BUTTONS.flatMap((button) => {
    const says = button.says(source);
    return says === null ? [] : [buttonOf(button, says, source)];
  });
  return html`<div class="buttons" role="group" aria-label="Ask of this source">${shown}</div>`;
}

function buttonOf(button: Button, says: string, source: SourceView): Html {
  const { label, path, asks, wantsTokenEachTime = false, showsEvidence = false, body } = button;
  const request = { source: source.name, ...body?.(source) };
  return html`<button
    type="button"
    id="${path}-${source.name}"
    data-path="${path}"
    data-says="${shortened(says, LONGEST_SENTENCES)}"
    data-body="${JSON.stringify(request)}"
    data-asks="${JSON.stringify(asks?.(source) ?? [])}"
    ${wantsTokenEachTime ? html`data-once` : []}
    ${showsEvidence ? html`data-evidence="${evidenceId(source)}"` : []}
  >
    ${label}
  </button>`;
}

/** The confirmation dialog. One for the whole page, so that it stays open while the page refreshes. */
export const CONFIRMATION: Html = html`<dialog id="ask" aria-labelledby="ask-title">
  <form id="ask-form" method="dialog">
    <h2 id="ask-title"></h2>
    <p id="ask-says"></p>
    <div id="ask-evidence"></div>
    <div id="ask-fields"></div>
    <label for="ask-token">Token</label>
    <input id="ask-token" type="password" autocomplete="off" required />
    <p id="ask-answer" role="status"></p>
    <div class="buttons">
      <button type="submit" id="ask-do"></button>
      <button type="button" id="ask-not">Cancel</button>
    </div>
  </form>
</dialog>`;

/** Shows the page of a flag beside the matrix. Without a script its link opens that page instead. */
export const PANEL: Html = html`<dialog id="panel" aria-label="Flag">
  <button type="button" id="panel-close">Close</button>
  <div id="panel-content"></div>
</dialog>`;

/** Code units of a text that a person reads before an approval. */
const LONGEST_LIMIT = 1_000;

/** The changes that wait for an approval with the limits that refuse them, and an approval that no run has used yet. */
export function approvalEvidence(source: SourceView, now: number): Html {
  const run = newestPlanned(source.runs);
  const plan = run?.plan;
  if (run === undefined || plan?.heldHash === undefined) return html``;
  const { approved } = source;
  const leave =
    approved !== null && isApproved(source)
      ? html`Approved by ${untrusted(approved.by)}, for the next run; void
        ${moment(approved.until, now)}.`
      : html``;
  const { headline = '' } = run.open ?? {};
  return html`<p>${heldText(plan)} ${leave}</p>
    <div id="${evidenceId(source)}" class="evidence">
      ${headline === '' ? [] : html`<p><strong>${untrusted(headline, LONGEST_LIMIT)}</strong></p>`}
      ${evidenceOf(plan, run, source)}
    </div>`;
}

function evidenceId({ name }: SourceView): string {
  return `evidence-${name}`;
}

function isApproved(source: SourceView): boolean {
  return source.approved !== null && source.approved.hash === newestPlan(source)?.heldHash;
}

function heldText({ guards = [], changes, withheld }: PlanDocument): string {
  const waiting = withheld.filter(isWaiting).length;
  if (guards.length === 0) return `${plural(waiting, 'change')} held until a window opens.`;
  const names = [...new Set(guards.map(({ guard }) => guard))].join(', ');
  return `${plural(unwrittenIn(changes) + waiting, 'change')} refused by a guard (${names}).`;
}

/** What a run wrote beside what it held back waits for nobody. */
function unwrittenIn(changes: PlanDocument['changes']): number {
  return changes.filter((change) => !isApplied(change)).length;
}

function isWaiting({ why }: PlanDocument['withheld'][number]): boolean {
  return why === 'window-closed';
}

function evidenceOf(plan: PlanDocument, run: RunRecord, source: SourceView): Html {
  const { unwritten, withheld } = run.open ?? {};
  const waiting = new Set(plan.withheld.filter(isWaiting).map(({ id }) => id));
  const held = (withheld?.rows ?? []).filter(({ subject }) => waiting.has(subject));
  const rows = [...(unwritten?.rows ?? []), ...held];
  const items = rows.map((row) => factList(factsOf(row, run, source)));
  return html`${limitList(plan, rows)} ${heldList(items, unwrittenIn(plan.changes) + waiting.size)}`;
}

function factsOf(row: PlacedRow, run: RunRecord, source: SourceView): Fact[] {
  const { kind = 'object', name = row.subject, environment = null } = refOfId(row.subject) ?? {};
  const fact = row.fact ?? '';
  const limits = (run.plan?.guards ?? []).filter(({ id }) => id === row.subject);
  return [
    [kind, html`<strong>${untrusted(name)}</strong>`],
    ['environment', environment === null ? html`all` : untrusted(environment)],
    [
      'change',
      html`<strong>${untrusted(fact === '' ? row.deed.text : fact)}</strong>
        ${row.lines.map((line) => html`<div>${lineHtml(line)}</div>`)}`,
    ],
    ...limits.map(({ says = '' }) => ['limit', untrusted(says, LONGEST_LIMIT)] as const),
    ['commit', commitFact(row, run, source)],
  ];
}

/** The commit of the change; that of the run if history names none. */
function commitFact({ origin, location: place }: PlacedRow, run: RunRecord, of: SourceView): Html {
  const [own] = place === null ? origin : origin.slice(1);
  if (own !== undefined) return untrusted(own);
  return html`${run.commit === null ? [] : commitOf(run.commit, of.location)}
  ${run.subject === null ? [] : subjectOf(run.subject, of.location)}`;
}

/** The limits that no single change of these is under. */
function limitList({ guards = [] }: PlanDocument, rows: readonly PlacedRow[]): Html {
  const shown = new Set<string | undefined>(rows.map(({ subject }) => subject));
  const others = guards.filter(({ id, says = '' }) => !shown.has(id) && says !== '');
  if (others.length === 0) return html``;
  return html`<ul>
    ${others.map(({ says = '' }) => html`<li>Limit: ${untrusted(says, LONGEST_LIMIT)}</li>`)}
  </ul>`;
}
