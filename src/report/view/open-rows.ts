import { outcomeOf, type PlanReport } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plainText } from '../text/layout.js';
import type { PlanView } from './plan-view.js';
import type { ChangeRow, Row } from './row.js';

/**
 * The first line of a run's report, and the rows that it leaves open, for people. Plain data: it is stored, sent and
 * shown. All text is cleaned.
 */
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

/** The first rows of a list, and the number of all. */
export interface FirstRows {
  readonly total: number;
  readonly rows: readonly PlacedRow[];
}

/** A row with the place of its spec; null if the specs do not contain the object. */
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
  const note = [{ text: `and ${String(more)} more`, tone: 'faint' }] as const;
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
