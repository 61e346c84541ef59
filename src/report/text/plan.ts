import { messageOf } from '../../errors.js';
import type { KillResult, Outcome } from '../../model/outcome.js';
import type { Change } from '../../model/plan.js';
import { isConverged } from '../../model/verdict.js';
import {
  byEnvironment,
  deedsText,
  outcomeOf,
  type PlanReport,
  shownEnvironments,
} from '../plan-report.js';
import { clean } from '../sanitize.js';
import { shortSha, firstOf, itemText, moreText, plural } from '../values.js';
import { guardTexts, type GuardTexts } from '../view/guards.js';
import { risksLine } from '../view/impact.js';
import { LEFT_TITLE, type Row } from '../view/row.js';
import { countText, type Fold, freshWords, namesOf, type ViewOptions } from '../view/folds.js';
import { planView, type PlanView } from '../view/plan-view.js';
import { LIVE_KILLS_TITLE } from '../view/sentences.js';
import { wholeText } from '../view/verdict.js';
import {
  paragraph,
  EMPTY_LINE,
  type Layout,
  type Line,
  renderLines,
  span,
  type Span,
} from './layout.js';

export type TextOptions = Layout & ViewOptions;

const FRESH_NOTE = 'New objects are shown in short; --verbose shows all of them.';

export function planText(
  report: PlanReport,
  options: TextOptions,
  view = planView(report, options),
): string {
  const lines = [...bodyLines(report, view, options), ...endLines(report, view, options)];
  return renderLines(lines, options);
}

/** The refusals of guards come before the line, because it does not count them. */
export function planSummary(report: PlanReport, layout: Layout): string {
  const refused = guardSection(guardTexts(report)).slice(1);
  return renderLines([...refused, paragraph(summaryLine(report), 'strong')], layout);
}

function bodyLines(report: PlanReport, view: PlanView, options: ViewOptions): Line[] {
  const { folds, withheld, liveKills, left, guards, title } = view;
  if (folds.length + withheld.length + liveKills.length + guards.refusals.length === 0) return [];
  const isWhole = showsAll(options);
  return [
    { indent: 0, spans: view.headline },
    paragraph(placeText(report, title), 'faint'),
    ...guardSection(guards),
    ...folds.flatMap((fold, index) => [
      ...(!isWhole && isShort(fold) && isShort(folds[index - 1]) ? [] : [EMPTY_LINE]),
      ...foldLines(fold, { title, isWhole }),
    ]),
    ...section('Withheld', withheld.flatMap(rowLines)),
    ...section(LIVE_KILLS_TITLE, liveKills.flatMap(rowLines)),
    ...section(LEFT_TITLE, left.flatMap(rowLines)),
    ...section('Refused by a guard, and approved', passedLines(guards.passed)),
    ...section('Allowed by the specs', passedLines(guards.allowed)),
    EMPTY_LINE,
  ];
}

function showsAll({ verbose = false, showKeys }: ViewOptions): boolean {
  return verbose || showKeys;
}

function isShort(fold: Fold | undefined): boolean {
  return fold !== undefined && fold.fresh !== '';
}

function guardSection({ sent, refusals, remedy }: GuardTexts): Line[] {
  if (refusals.length === 0) return [];
  return section(`Refused by a guard, ${sent} is sent`, [
    ...refusals.map((text) => ({ indent: 2, spans: [span('✗ ', 'alarm'), span(text)] })),
    paragraph(`→ ${remedy}`, 'plain', 6),
  ]);
}

function passedLines(texts: readonly string[]): Line[] {
  return texts.map((text) => ({ indent: 2, spans: [span('! ', 'change'), span(text)] }));
}

function section(title: string, lines: readonly Line[]): Line[] {
  if (lines.length === 0) return [];
  return [EMPTY_LINE, paragraph(title, 'strong'), ...lines];
}

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

function placeText({ workspace, origin, revision }: PlanReport, title: string): string {
  const head =
    revision.commit === null ? 'no commit' : `commit ${shortSha(clean(revision.commit))}`;
  const dirty = revision.dirty ? ' with local changes' : '';
  const place = `Workspace ${clean(workspace.name)} at ${clean(origin)}, ${head}${dirty}`;
  return title === '' ? place : `${place} · all by ${title}`;
}

export function rowLines(row: Row): Line[] {
  const { mark, subject, deed, fact = '', reason = '', origin, lines } = row;
  const headline: Line = {
    indent: 2,
    spans: [
      span(`${mark.text} `, mark.tone),
      span(subject, 'strong'),
      span(` ${deed.text}`, deed.tone),
      ...(fact === '' ? [] : [span(':', deed.tone), span(` ${fact}`, 'strong')]),
      ...(reason === '' ? [] : [span(` · ${reason}`, 'change')]),
      ...originSpans(origin),
    ],
  };
  return [headline, ...lines.map((spans) => ({ indent: 6, spans }))];
}

const SHOWN_NAMES = 3;

/** @param around.title is printed above all objects. @param around.isWhole new objects have rows, and not one line. */
export function foldLines(
  fold: Fold,
  around: { readonly title?: string; readonly shownNames?: number; readonly isWhole?: boolean },
): Line[] {
  const { title = '', shownNames = SHOWN_NAMES, isWhole = false } = around;
  const { keys, rows } = fold;
  const [key = ''] = keys;
  const isShort = fold.fresh !== '' && !isWhole;
  // A line that stands for all rows has the place of the object itself, which is the last of them.
  const place = fold.place || (isShort ? (rows.at(-1)?.place ?? '') : '');
  const origin = [place, fold.title === title ? '' : fold.title].filter((text) => text !== '');
  if (fold.members) return [folderLine(fold, shownNames)];
  if (isShort) return [freshLine(fold, origin), ...dangerLines(fold)];
  const more = keys.length > shownNames ? ' (--verbose lists them)' : '';
  const heading =
    keys.length === 1
      ? [span(clean(key), 'strong'), ...originSpans(origin)]
      : [span(countText(fold), 'strong'), span(`: ${itemText(namesOf(fold), shownNames)}${more}`)];
  return [{ indent: 0, spans: heading }, ...rows.flatMap(rowLines)];
}

/** `+ flag/search · new flag: production on 10 %, staging on 100 %`. */
function freshLine({ keys: [key = ''], kind, fresh, rows }: Fold, origin: readonly string[]): Line {
  const name = [span('+ ', 'add'), span(clean(key), 'strong')];
  const what = [span(` · ${freshWords(kind, rows)}`, 'add'), span(` ${fresh}`, 'strong')];
  return { indent: 0, spans: [...name, ...what, ...originSpans(origin)] };
}

/** `+ 7 new flags in flags/checkout: a, b, c, … 4 more · production 6, staging 7`. */
function folderLine(fold: Fold, shownNames: number): Line {
  const names = itemText(namesOf(fold), shownNames);
  const spans = [span('+ ', 'add'), span(countText(fold), 'strong'), span(`: ${names}`)];
  return { indent: 0, spans: [...spans, ...originSpans([fold.fresh])] };
}

/** Nothing else is shown of the object. */
function dangerLines({ rows }: Fold): Line[] {
  return rows
    .flatMap(({ lines }) => lines)
    .filter(([first]) => first?.tone === 'alarm')
    .map((spans) => ({ indent: 6, spans }));
}

function originSpans(origin: readonly string[]): Span[] {
  return origin.map((text) => span(` · ${text}`, 'faint'));
}

export function killLine(id: string, result: KillResult): string {
  switch (result.status) {
    case 'killed':
      return `killed ${clean(id)}: ${clean(result.note.title)}`;
    case 'absent':
      return `warning: nothing to kill: ${clean(id)} has no definition`;
    case 'failed':
      return `error: ${clean(id)} is not killed: ${clean(messageOf(result.error))}`;
  }
}

export function summaryLine(report: PlanReport): string {
  const { plan } = report;
  if (plan.changes.length + plan.withheld.length === 0 && isConverged(report.verdict)) {
    const where = `workspace ${clean(report.workspace.name)} at ${clean(report.origin)}`;
    return `${wholeText(report)}, nothing to write in ${where}.`;
  }
  return report.outcomes ? appliedLine(report) : plannedLine(report);
}

function plannedLine(report: PlanReport): string {
  const { plan } = report;
  const risks = risksLine(report);
  const actions = [
    deedsText(plan.changes, (deed, count) => `${String(count)} to ${deed}`),
    plural(plan.steps.length, 'request'),
  ].join(', ');
  const parts = [
    actions,
    ...restCounts(plan, withheldNames(report)),
    ...(report.guardFindings?.length ? ['refused by a guard'] : []),
    ...(risks === '' ? [] : [risks]),
  ];
  return `Plan: ${parts.join('; ')}.`;
}

function appliedLine(report: PlanReport): string {
  const { plan } = report;
  const ended = (status: Outcome['status']): readonly Change[] =>
    plan.changes.filter(({ id }) => outcomeOf(report, id)?.status === status);
  const actions = deedsText(ended('applied'), (deed, count) => `${String(count)} ${deed}d`);
  const undone = (['failed', 'skipped'] as const)
    .filter((status) => ended(status).length > 0)
    .map((status) => `${String(ended(status).length)} ${status}`)
    .join(', ');
  const all = plan.changes.map(({ id }) => outcomeOf(report, id));
  const inPart = all.filter((each) => each?.status !== 'applied' && each?.partly === true);
  const written = inPart.length === 0 ? '' : ` (${String(inPart.length)} written in part)`;
  const parts = [actions, ...(undone === '' ? [] : [undone + written]), ...restCounts(plan)];
  const whole = report.converged === undefined ? '' : ` ${wholeText(report)}.`;
  return `Applied: ${parts.join('; ')}.${whole}`;
}

const SHOWN_WITHHELD = 3;

/** The most protected first: ` (flag/legacy@production, … 2 more)`. */
function withheldNames(report: PlanReport): string {
  const { withheld } = report.plan;
  const ids = byEnvironment(withheld, shownEnvironments(report)).map(({ id }) => clean(id));
  const names = [...new Set(ids)];
  return ` (${firstOf(names, SHOWN_WITHHELD, String, moreText).join(', ')})`;
}

function restCounts(plan: PlanReport['plan'], names = ''): string[] {
  return [
    `${String(plan.unchanged.length)} unchanged`,
    ...(plan.withheld.length > 0 ? [`${String(plan.withheld.length)} withheld${names}`] : []),
  ];
}
