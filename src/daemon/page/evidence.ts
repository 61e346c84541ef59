import { html, type Html } from '../../platform/html.js';
import { refOfId } from '../../model/ref.js';
import { lineHtml } from '../../report/html/rows.js';
import type { PlanDocument } from '../../report/json/plan.js';
import { plural } from '../../report/values.js';
import type { PlacedRow } from '../../report/view/plan-view.js';
import { newestPlan, newestPlanned } from '../health.js';
import type { RunRecord, SourceView } from '../view.js';
import { commitOf, factList, moment, subjectOf, untrusted, type Fact } from './phrases.js';

/** Code units of a text that a person reads before an approval. */
const LONGEST_LIMIT = 1_000;

/**
 * The changes that wait for an approval, each with its size, its reach, the limits that refuse it and its commit; then
 * the approval if no run has used it yet. Empty if nothing can be approved.
 */
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

/** The element that the dialog copies. */
export function evidenceId({ name }: SourceView): string {
  return `evidence-${name}`;
}

export function isApproved(source: SourceView): boolean {
  return source.approved !== null && source.approved.hash === newestPlan(source)?.heldHash;
}

/** A whole sentence. */
export function heldText({ guards = [], changes, withheld }: PlanDocument): string {
  const waiting = withheld.filter(isWaiting).length;
  if (guards.length === 0) return `${plural(waiting, 'change')} held until a window opens.`;
  const names = [...new Set(guards.map(({ guard }) => guard))].join(', ');
  return `${plural(changes.length + waiting, 'change')} refused by a guard (${names}).`;
}

function isWaiting({ why }: PlanDocument['withheld'][number]): boolean {
  return why === 'window-closed';
}

function evidenceOf(plan: PlanDocument, run: RunRecord, source: SourceView): Html {
  const { unwritten, withheld } = run.open ?? {};
  const waiting = new Set(plan.withheld.filter(isWaiting).map(({ id }) => id));
  const held = (withheld?.rows ?? []).filter(({ subject }) => waiting.has(subject));
  const rows = [...(unwritten?.rows ?? []), ...held];
  const more = plan.changes.length + waiting.size - rows.length;
  return html`${limitList(plan, rows)}
    <ul class="held">
      ${rows.map((row) => html`<li>${factList(factsOf(row, { plan, run, source }))}</li>`)}
    </ul>
    ${more > 0 ? html`<p>and ${plural(more, 'more', 'more')}: see the plan of the last run</p>` : []}`;
}

interface Refused {
  readonly plan: PlanDocument;
  readonly run: RunRecord;
  readonly source: SourceView;
}

function factsOf(row: PlacedRow, { plan, run, source }: Refused): Fact[] {
  const { kind = 'object', name = row.subject, environment = null } = refOfId(row.subject) ?? {};
  const fact = row.fact ?? '';
  const limits = (plan.guards ?? []).filter(({ id }) => id === row.subject);
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
