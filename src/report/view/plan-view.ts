import { grouped } from '../../model/collections.js';
import {
  byEnvironment,
  isUndone,
  kindText,
  outcomeOf,
  refusingFindings,
  type PlanReport,
  shownEnvironments,
} from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plainText, span, type Span } from '../text/layout.js';
import { counted } from '../values.js';
import { foldsOf, freshWords, LIST, shared, type Fold, type ViewOptions } from './folds.js';
import { guardTexts, type GuardTexts } from './guards.js';
import { audienceText, byWeight, risksIn, risksOf, riskWord, weightOf } from './impact.js';
import { type ChangeRow, leftRow, type Row, withheldRow } from './row.js';
import { caveatsOf, liveKillRow, type Caveats } from './sentences.js';

/** A plan, and after an apply its results, in the form that every printer uses. All text is cleaned. */
export interface PlanView {
  readonly headline: readonly Span[];
  readonly folds: readonly Fold[];
  readonly withheld: readonly ChangeRow[];
  readonly liveKills: readonly Row[];
  readonly left: readonly Row[];
  readonly guards: GuardTexts;
  readonly caveats: Caveats;
  readonly title: string;
}

export function planView(report: PlanReport, options: ViewOptions): PlanView {
  const { plan, left = [] } = report;
  const { showKeys } = options;
  const folds = foldsOf(report, options);
  const places = shownEnvironments(report);
  const withheld = byEnvironment(plan.withheld, places).map((each) =>
    withheldRow(each, report, showKeys),
  );
  const liveKills = byEnvironment(plan.liveKills, places).map(liveKillRow);
  return {
    headline: headlineOf(report, folds, withheld, liveKills),
    folds,
    withheld,
    liveKills,
    left: byEnvironment(left, places).map((each) => leftRow(each, showKeys)),
    guards: guardTexts(report),
    caveats: caveatsOf(report),
    title: isSeveral(folds) ? shared(folds.map(({ title }) => title)) : '',
  };
}

/** The heaviest change, the largest risk, and how much else there is. Empty if there is nothing to say. */
function headlineOf(
  report: PlanReport,
  folds: readonly Fold[],
  withheld: readonly ChangeRow[],
  liveKills: readonly Row[],
): Span[] {
  const refused =
    refusingFindings(report).length > 0 ? [[span('A guard refuses this plan', 'alarm')]] : [];
  const [fold] = folds;
  const parts = fold ? foldParts(report, fold, folds) : nothingParts(withheld, liveKills);
  return [...refused, ...parts].flatMap((part, index) =>
    index === 0 ? part : [span(' · '), ...part],
  );
}

function nothingParts(withheld: readonly ChangeRow[], liveKills: readonly Row[]): Span[][] {
  const [row = liveKills[0]] = withheld;
  if (!row) return [];
  const words = withheld.length > 0 ? row.deed.text : `is killed on the service, ${row.deed.text}`;
  return [
    [span('Nothing to write', 'strong')],
    [span(`${row.subject} ${words}`)],
    ...(withheld.length > 0
      ? restParts({ 'more change': withheld.length - 1, 'live kill': liveKills.length })
      : restParts({ 'more live kill': liveKills.length - 1 })),
  ];
}

function foldParts(report: PlanReport, first: Fold, all: readonly Fold[]): Span[][] {
  const isAllNew = isSeveral(all) && all.every((each) => isNew(each, report));
  return isAllNew ? newParts(report, all) : changeParts(report, first);
}

function isSeveral(folds: readonly Fold[]): boolean {
  return folds.length > 1 || folds.some(({ keys }) => keys.length > 1);
}

function isNew({ kind, fresh, rows }: Fold, report: PlanReport): boolean {
  if (fresh !== '') return true;
  const isAdded = rows.every(({ change: { action } }) => action === 'create');
  const hasFailed = rows.some(({ change }) => isUndone(change, report));
  return kindText(kind).details === 'identities' && isAdded && !hasFailed;
}

function changeParts(report: PlanReport, fold: Fold): Span[][] {
  const { kind, keys, rows, fresh } = fold;
  const one = clean(keys[0] ?? '');
  if (fresh !== '' && keys.length === 1) {
    const name = [span(one, 'strong')];
    const what = [span(freshWords(kind, rows)), span(` ${fresh}`, 'strong')];
    return [name, what, ...riskParts(report, rows), ...othersParts(report, rows)];
  }
  const [row] = rows.toSorted((a, b) =>
    byWeight(weightOf(a.change, report), weightOf(b.change, report)),
  );
  if (!row) return [];
  const subject = keys.length === 1 ? one : kindText(kind).counted(keys.length);
  const place = row.change.ref.environment === null ? '' : ` in ${row.subject}`;
  const fact = row.fact ? `: ${row.fact}` : '';
  const impact = row.change.action === 'update' && report.impacts?.get(row.change.id);
  return [
    [span(`${subject}${place}`, 'strong'), span(` ${row.deed.text}${fact}`)],
    ...(row.reason ? [[span(row.reason, 'change')]] : []),
    ...(impact ? [[span(`reaches ${audienceText(row.change, impact, { showKeys: false })}`)]] : []),
    ...riskParts(report, [row]),
    ...othersParts(report, [row], keys.length),
  ];
}

function newParts(report: PlanReport, folds: readonly Fold[]): Span[][] {
  const texts = [...grouped(folds, ({ kind }) => kind)].map(([kind, all]) =>
    kindText(kind).countedNew(all.flatMap(({ keys }) => keys).length),
  );
  const rows = folds.flatMap((fold) => fold.rows);
  const changed = new Set(rows.map(({ change }) => change.ref.environment));
  const places = shownEnvironments(report).filter((place) => changed.has(place));
  const where = places.length === 0 ? '' : ` in ${LIST.format(places.map(clean))}`;
  const words = `${report.outcomes ? 'Created ' : ''}${texts.join(', ')}${where}`;
  return [[span(words, 'strong')], ...riskParts(report, rows), ...othersParts(report, rows)];
}

function riskParts(report: PlanReport, rows: readonly ChangeRow[]): Span[][] {
  for (const { change } of rows) {
    const [risk] = risksOf(change, report);
    if (risk === undefined) continue;
    const isNamed = new Set(rows.map((row) => row.change.ref.name)).size > 1;
    const name = isNamed ? `${clean(change.id)} ` : '';
    return [[span(`!! ${name}${riskWord(risk, change.ref.environment)}`, 'alarm')]];
  }
  return [];
}

function othersParts(
  report: PlanReport,
  rows: readonly ChangeRow[],
  changed = rows.length,
): Span[][] {
  const { changes } = report.plan;
  const risks = risksIn(report).length;
  const shown = rows.some(({ change }) => risksOf(change, report).length > 0) ? 1 : 0;
  return restParts({ 'more change': changes.length - changed, 'more risk': risks - shown });
}

function restParts(counts: Readonly<Record<string, number>>): Span[][] {
  const texts = Object.entries(counts).flatMap(([what, count]) => counted(count, what));
  return texts.length === 0 ? [] : [[span(`and ${texts.join(', ')}`)]];
}

/** What a run leaves open. Plain data: it is stored, sent and shown. */
export interface OpenRows {
  /** Empty if there was nothing to write. Not set if an older version kept the run. */
  readonly headline?: string;
  /** Changes that are not on the service, because they failed or wait. */
  readonly unwritten: FirstRows;
  readonly withheld: FirstRows;
  readonly liveKills: FirstRows;
  /** Reviews that were due by now, and the progress of ramps: one sentence each. */
  readonly reminders: readonly string[];
  readonly ramps: readonly string[];
}

export interface FirstRows {
  readonly total: number;
  readonly rows: readonly PlacedRow[];
}

export interface PlacedRow extends Row {
  readonly location: { readonly file: string; readonly line: number } | null;
}

const MOST_ROWS = 50;
const MOST_LINES = 10;

/** @param view of the report, with each object by itself. */
export function openRows(report: PlanReport, view: PlanView): OpenRows {
  const { headline, folds, withheld, liveKills, caveats } = view;
  const unwritten = folds
    .flatMap(({ rows }) => rows)
    .filter(({ change }) => outcomeOf(report, change.id)?.status !== 'applied');
  return {
    headline: plainText(headline),
    unwritten: firstRows(unwritten.map(placedRow)),
    withheld: firstRows(withheld.map(placedRow)),
    liveKills: firstRows(liveKills.map((row) => ({ ...row, location: null }))),
    reminders: caveats.reminders.slice(0, MOST_ROWS),
    ramps: caveats.ramps.slice(0, MOST_ROWS),
  };
}

function firstRows(rows: readonly PlacedRow[]): FirstRows {
  return { total: rows.length, rows: rows.slice(0, MOST_ROWS).map(bounded) };
}

/** The last lines have the remedy, so the lines before them are left out. */
function bounded(row: PlacedRow): PlacedRow {
  const more = row.lines.length - MOST_LINES;
  if (more <= 0) return row;
  const note = [span(`and ${String(more)} more`, 'faint')];
  return { ...row, lines: [...row.lines.slice(0, MOST_LINES - 1), note, ...row.lines.slice(-1)] };
}

function placedRow({ change, place: _, title: __, ...row }: ChangeRow): PlacedRow {
  const { id, location } = change;
  return {
    ...row,
    subject: clean(id),
    location: location ? { file: location.file, line: location.line } : null,
  };
}
