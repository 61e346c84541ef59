import { caveatsOf } from './caveats.js';
import { withheldLines } from './change/change.js';
import { clean } from '../sanitize.js';
import { allowedLines, guardLines } from './guards.js';
import { EMPTY_LINE, renderLines, span, type Layout, type Line } from './layout.js';
import { LEFT_TITLE, leftLines } from './left.js';
import { LIVE_KILLS_TITLE, liveKillLines } from './live-kills.js';
import { objectsLines, sharedCommit, type ObjectOptions } from './change/object.js';
import type { PlanReport } from '../plan-report.js';
import { summaryLine } from './summary.js';

/** How the report is laid out, and how much of it there is. */
export type TextOptions = Layout & ObjectOptions;

const SHORT_SHA = 7;
const GUARDS_TITLE = 'Refused by a guard, nothing is sent';

/**
 * The report for people: changes by object, then what is withheld, then one line of totals.
 * With outcomes it says what was done. Colour adds nothing that the words do not say.
 */
export function planText(report: PlanReport, options: TextOptions): string {
  return renderLines([...bodyLines(report, options), ...endLines(report)], options);
}

/** The last line of the report alone; above it the guards that refuse the plan, since the line counts none. */
export function planSummary(report: PlanReport, layout: Layout): string {
  const refused = section(GUARDS_TITLE, guardLines(report)).slice(1);
  return renderLines([...refused, paragraph(summaryLine(report), 'strong')], layout);
}

/** Everything but the end; nothing where there is nothing to tell. */
function bodyLines(report: PlanReport, options: ObjectOptions): Line[] {
  const { plan } = report;
  const { showKeys } = options;
  const findings = report.guardFindings ?? [];
  const count = plan.changes.length + plan.withheld.length + plan.liveKills.length;
  if (count + findings.length === 0) return [];
  const told = sharedCommit(report);
  return [
    paragraph(placeText(report, told), 'faint'),
    ...section(GUARDS_TITLE, guardLines(report)),
    ...objectsLines(report, told, options),
    ...section(
      'Withheld',
      plan.withheld.flatMap((withheld) => withheldLines(withheld, report, showKeys)),
    ),
    ...section(LIVE_KILLS_TITLE, liveKillLines(plan.liveKills)),
    ...section(LEFT_TITLE, leftLines(report.left ?? [], showKeys)),
    ...section('Allowed by the specs', allowedLines(report)),
    EMPTY_LINE,
  ];
}

/** A title and its lines; nothing where there are no lines. */
function section(title: string, lines: readonly Line[]): Line[] {
  if (lines.length === 0) return [];
  return [EMPTY_LINE, { indent: 0, spans: [span(title, 'strong')] }, ...lines];
}

/** Caveats, and the line of totals. */
function endLines(report: PlanReport): Line[] {
  const { plan } = report;
  const { serious, ramps, reminders, limits } = caveatsOf(report);
  const busy = plan.changes.length + plan.withheld.length > 0;
  return [
    ...[...serious, ...reminders, ...ramps, ...limits].map((text) => paragraph(text, 'faint')),
    ...(busy && plan.unchanged.length > 0
      ? [paragraph(`${String(plan.unchanged.length)} unchanged hidden`, 'faint')]
      : []),
    ...(busy && !report.outcomes ? [paragraph(`planHash ${clean(report.planHash)}`, 'faint')] : []),
    paragraph(summaryLine(report), 'strong'),
  ];
}

/** Which workspace of which service the report is about, the commit that it compares, and the one behind all changes. */
function placeText({ workspace, origin, revision }: PlanReport, told: string): string {
  const commit =
    revision.commit === null ? 'no commit' : `commit ${clean(revision.commit).slice(0, SHORT_SHA)}`;
  const dirty = revision.dirty ? ' with local changes' : '';
  const place = `Workspace ${clean(workspace.name)} at ${clean(origin)}, ${commit}${dirty}`;
  return told === '' ? place : `${place} · all by ${told}`;
}

function paragraph(text: string, tone: 'faint' | 'strong'): Line {
  return { indent: 0, spans: [span(text, tone)] };
}
