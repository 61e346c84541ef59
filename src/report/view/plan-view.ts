import { byEnvironment, outcomeOf, type PlanReport, shownEnvironments } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plainText, span, type Span } from '../text/layout.js';
import { foldsOf, shared, type Fold, type ViewOptions } from './folds.js';
import { guardTexts, type GuardTexts } from './guards.js';
import { headlineOf } from './headline.js';
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
  /** The common commit of the changes of several objects; empty if there is none. */
  readonly commit: string;
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
    commit:
      folds.length > 1 || folds.some(({ keys }) => keys.length > 1)
        ? shared(folds.map(({ commit }) => commit))
        : '',
  };
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

/** Null if the specs do not contain the object. */
export interface PlacedRow extends Row {
  readonly location: { readonly file: string; readonly line: number } | null;
}

/** More than people read in a list. */
const MOST_ROWS = 50;
/** More than people read about one object. */
const MOST_LINES = 10;

/** @param view of the report, with each object by itself. */
export function openRows(report: PlanReport, view: PlanView): OpenRows {
  const { headline, folds, withheld, liveKills, caveats } = view;
  const unwritten = folds
    .flatMap(({ rows }) => rows)
    .filter(({ change }) => outcomeOf(report, change.id)?.status !== 'applied');
  return {
    headline: plainText(headline),
    unwritten: firstOf(unwritten.map(placedRow)),
    withheld: firstOf(withheld.map(placedRow)),
    liveKills: firstOf(liveKills.map((row) => ({ ...row, location: null }))),
    reminders: caveats.reminders.slice(0, MOST_ROWS),
    ramps: caveats.ramps.slice(0, MOST_ROWS),
  };
}

function firstOf(rows: readonly PlacedRow[]): FirstRows {
  return { total: rows.length, rows: rows.slice(0, MOST_ROWS).map(bounded) };
}

/** The last lines have the remedy, so the lines before them are left out. */
function bounded(row: PlacedRow): PlacedRow {
  const more = row.lines.length - MOST_LINES;
  if (more <= 0) return row;
  const note = [span(`and ${String(more)} more`, 'faint')];
  return { ...row, lines: [...row.lines.slice(0, MOST_LINES - 1), note, ...row.lines.slice(-1)] };
}

function placedRow({ change, place: _, commit: __, ...row }: ChangeRow): PlacedRow {
  const { id, location } = change;
  return {
    ...row,
    subject: clean(id),
    location: location ? { file: location.file, line: location.line } : null,
  };
}
