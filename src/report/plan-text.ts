import type { Change } from '../model/plan.js';
import { changeLines, withheldLines } from './change-lines.js';
import { clean } from './clean.js';
import { allowedLines, guardLines } from './guard-lines.js';
import { EMPTY_LINE, renderLines, span, type Layout, type Line } from './layout.js';
import type { PlanReport } from './plan-report.js';
import { summaryLine } from './summary-line.js';
import { plural } from './value-words.js';

export interface TextOptions extends Layout {
  /** Name the first keys of each list; otherwise they are counted. */
  readonly showKeys: boolean;
}

const SHORT_SHA = 7;
const WORKSPACE_LEVEL = 'workspace level';

/**
 * The report for people: what changes, grouped by environment, then what is withheld, then one line of totals. With
 * outcomes it tells what was done. Colour adds nothing that the words do not say.
 */
export function planText(report: PlanReport, options: TextOptions): string {
  return renderLines([...bodyLines(report, options.showKeys), ...endLines(report)], options);
}

function bodyLines(report: PlanReport, showKeys: boolean): Line[] {
  const { plan } = report;
  const findings = report.guardFindings ?? [];
  if (plan.changes.length + plan.withheld.length + findings.length === 0) return [];
  return [
    paragraph(placeWords(report), 'faint'),
    ...changesByPlace(report).flatMap(([title, changes]) =>
      section(
        title,
        changes.flatMap((change) => changeLines(change, report, showKeys)),
      ),
    ),
    ...section(
      'Withheld',
      plan.withheld.flatMap((withheld) => withheldLines(withheld, report, showKeys)),
    ),
    ...section('Allowed by the specs', allowedLines(report)),
    ...section('Refused by a guard, nothing is sent', guardLines(report)),
    EMPTY_LINE,
  ];
}

function section(title: string, lines: readonly Line[]): Line[] {
  if (lines.length === 0) return [];
  return [EMPTY_LINE, { indent: 0, spans: [span(title, 'strong')] }, ...lines];
}

/** Workspace level first, then the environments in their order; within one the plan's order. */
export function changesByPlace(report: PlanReport): [string, Change[]][] {
  const order = [null, ...report.environments];
  const byPlace = new Map<string | null, Change[]>(order.map((place) => [place, []]));
  for (const change of report.plan.changes) {
    const { environment } = change.ref;
    const group = byPlace.get(environment) ?? [];
    byPlace.set(environment, group);
    group.push(change);
  }
  return [...byPlace].map(([place, changes]) => [
    place === null ? WORKSPACE_LEVEL : clean(place),
    changes,
  ]);
}

function endLines(report: PlanReport): Line[] {
  const { plan } = report;
  const busy = plan.changes.length + plan.withheld.length > 0;
  return [
    ...notes(report).map((note) => paragraph(note, 'faint')),
    ...(busy && plan.unchanged.length > 0
      ? [paragraph(`${String(plan.unchanged.length)} unchanged hidden`, 'faint')]
      : []),
    ...(busy && !report.outcomes ? [paragraph(`planHash ${clean(report.planHash)}`, 'faint')] : []),
    paragraph(summaryLine(report), 'strong'),
  ];
}

/** What a reader has to know about how much the report can say. */
function notes({ plan, stateless, held = [] }: PlanReport): string[] {
  return [
    ...(held.length > 0
      ? [
          `Left as they are, because their specs or what they name are invalid: ${held.map(clean).join(', ')}.`,
        ]
      : []),
    ...(stateless
      ? ['Stateless: drift cannot be told from a change in git, and nothing is pruned.']
      : []),
    ...(plan.observed === 'touched'
      ? ['Only what changed in git was looked at; drift elsewhere was not.']
      : []),
    ...(plan.unmanaged && plan.unmanaged.flags + plan.unmanaged.segments > 0
      ? [
          `Not managed here: ${plural(plan.unmanaged.flags, 'flag')}, ${plural(plan.unmanaged.segments, 'segment')}.`,
        ]
      : []),
  ];
}

function placeWords({ workspace, origin, revision }: PlanReport): string {
  const commit =
    revision.commit === null ? 'no commit' : `commit ${clean(revision.commit).slice(0, SHORT_SHA)}`;
  const dirty = revision.dirty ? ' with local changes' : '';
  return `Workspace ${clean(workspace.name)} at ${clean(origin)}, ${commit}${dirty}`;
}

function paragraph(text: string, tone: 'faint' | 'strong'): Line {
  return { indent: 0, spans: [span(text, tone)] };
}
