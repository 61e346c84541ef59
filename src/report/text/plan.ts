import type { PlanReport } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { guardTexts, type GuardTexts } from '../view/guards.js';
import { LEFT_TITLE } from '../view/left.js';
import { planView, type Fold, type PlanView, type ViewOptions } from '../view/plan-view.js';
import { LIVE_KILLS_TITLE } from '../view/sentences.js';
import { EMPTY_LINE, renderLines, span, type Layout, type Line } from './layout.js';
import { foldLines, rowLines } from './rows.js';
import { summaryLine } from './summary.js';

/** The layout of the report, and its level of detail. */
export type TextOptions = Layout & ViewOptions;

const SHORT_SHA = 7;
const FRESH_NOTE = 'New objects are shown in short; --verbose shows all of them.';
const GUARDS_TITLE = 'Refused by a guard, nothing is sent';

/**
 * The report for people: changes by object, then the withheld ones, then one line of totals. With outcomes it says what
 * was done. Colour adds nothing that the words do not say.
 *
 * @param view of the report, if the caller needs it too.
 */
export function planText(
  report: PlanReport,
  options: TextOptions,
  view = planView(report, options),
): string {
  return renderLines(
    [...bodyLines(report, view, options), ...endLines(report, view, options)],
    options,
  );
}

/** The last line of the report alone. The refusals of guards come before it, because the line does not count them. */
export function planSummary(report: PlanReport, layout: Layout): string {
  const refused = section(GUARDS_TITLE, guardLines(guardTexts(report))).slice(1);
  return renderLines([...refused, paragraph(summaryLine(report), 'strong')], layout);
}

/** Everything but the end; empty if there is nothing to report. */
function bodyLines(report: PlanReport, view: PlanView, options: ViewOptions): Line[] {
  const { folds, withheld, liveKills, left, guards, commit } = view;
  if (folds.length + withheld.length + liveKills.length + guards.refusals.length === 0) return [];
  const isWhole = showsAll(options);
  return [
    { indent: 0, spans: view.headline },
    paragraph(placeText(report, commit), 'faint'),
    ...section(GUARDS_TITLE, guardLines(guards)),
    ...folds.flatMap((fold, index) => [
      ...(!isWhole && isShort(fold) && isShort(folds[index - 1]) ? [] : [EMPTY_LINE]),
      ...foldLines(fold, { commit, isWhole }),
    ]),
    ...section('Withheld', withheld.flatMap(rowLines)),
    ...section(LIVE_KILLS_TITLE, liveKills.flatMap(rowLines)),
    ...section(LEFT_TITLE, left.flatMap(rowLines)),
    ...section(
      'Allowed by the specs',
      guards.allowed.map((text) => ({ indent: 2, spans: [span('! ', 'change'), span(text)] })),
    ),
    EMPTY_LINE,
  ];
}

/** Whether every object has all its rows. */
function showsAll({ verbose = false, showKeys }: ViewOptions): boolean {
  return verbose || showKeys;
}

/** Whether a fold is one line, so that it needs no empty line before the next one. */
function isShort(fold: Fold | undefined): boolean {
  return fold !== undefined && fold.fresh !== '';
}

/** The refusals of guards, with the remedy in the last line. */
function guardLines({ refusals, remedy }: GuardTexts): Line[] {
  if (refusals.length === 0) return [];
  return [
    ...refusals.map((text) => ({ indent: 2, spans: [span('✗ ', 'alarm'), span(text)] })),
    { indent: 6, spans: [span(`→ ${remedy}`)] },
  ];
}

/** A title and its lines; empty if there are no lines. */
function section(title: string, lines: readonly Line[]): Line[] {
  if (lines.length === 0) return [];
  return [EMPTY_LINE, { indent: 0, spans: [span(title, 'strong')] }, ...lines];
}

/** Caveats, and the line of totals. */
function endLines(report: PlanReport, { caveats, folds }: PlanView, options: ViewOptions): Line[] {
  const { plan } = report;
  const { serious, ramps, reminders, limits } = caveats;
  const busy = plan.changes.length + plan.withheld.length > 0;
  return [
    ...[...serious, ...reminders, ...ramps, ...limits].map((text) => paragraph(text, 'faint')),
    ...(!showsAll(options) && folds.some(isShort) ? [paragraph(FRESH_NOTE, 'faint')] : []),
    ...(busy && plan.unchanged.length > 0
      ? [paragraph(`${String(plan.unchanged.length)} unchanged hidden`, 'faint')]
      : []),
    ...(busy && !report.outcomes ? [paragraph(`planHash ${clean(report.planHash)}`, 'faint')] : []),
    paragraph(summaryLine(report), 'strong'),
  ];
}

/** Workspace and service of the report, the commit that it compares, and the common commit of all changes. */
function placeText({ workspace, origin, revision }: PlanReport, commit: string): string {
  const head =
    revision.commit === null ? 'no commit' : `commit ${clean(revision.commit).slice(0, SHORT_SHA)}`;
  const dirty = revision.dirty ? ' with local changes' : '';
  const place = `Workspace ${clean(workspace.name)} at ${clean(origin)}, ${head}${dirty}`;
  return commit === '' ? place : `${place} · all by ${commit}`;
}

function paragraph(text: string, tone: 'faint' | 'strong'): Line {
  return { indent: 0, spans: [span(text, tone)] };
}
