import type { Risk } from '../../model/impact.js';
import { noteKey, type Change } from '../../model/plan.js';
import { keyOf, type Kind, type ObjectKey } from '../../model/ref.js';
import type { PlanReport } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plainText } from '../text/layout.js';
import { plural } from '../values.js';
import { briefOf } from './brief.js';
import { guardTexts, type GuardTexts } from './guards.js';
import { risksOf } from './impact.js';
import { leftRow } from './left.js';
import { changeRow, withheldRow, type ChangeRow, type Row } from './row.js';
import { caveatsOf, liveKillRow, type Caveats } from './sentences.js';
import { byEnvironment, byWeight, isUrgent, shownEnvironments, weightOf } from './weight.js';

/** From this number of objects on, those with equal changes are shown once. */
const FOLD_FROM = 10;

/** The settings for the level of detail. */
export interface ViewOptions {
  /** Names the first keys of each list; otherwise keys are counted. */
  readonly showKeys: boolean;
  /** Lists each object, even if many have equal changes. */
  readonly verbose?: boolean;
}

/** A plan, and after an apply its results, in the form that every printer uses. All text is cleaned. */
export interface PlanView {
  /**
   * By weight: failures first, then risks from the largest on, removals, and changes in protected environments.
   */
  readonly folds: readonly Fold[];
  readonly withheld: readonly ChangeRow[];
  readonly liveKills: readonly Row[];
  /** The differences that a second look found. */
  readonly left: readonly Row[];
  readonly guards: GuardTexts;
  readonly caveats: Caveats;
  /** The common commit of the changes of several objects; empty if there is none. */
  readonly commit: string;
}

/** One object, or several with equal changes. */
export interface Fold {
  readonly kind: Kind;
  readonly keys: readonly ObjectKey[];
  /**
   * The rows of the first object: first its environments, in the order of `shownEnvironments`, and then the object
   * itself.
   */
  readonly rows: readonly ChangeRow[];
  /** For one object: the common place of its declarations, and their common commit; each is empty if there is none. */
  readonly place: string;
  readonly commit: string;
  /** Titles of the writes of all objects. */
  readonly titles: ReadonlySet<string>;
  readonly risks: ReadonlySet<Risk>;
  /** Reviewers should look at it before the others. */
  readonly isUrgent: boolean;
}

export function planView(report: PlanReport, options: ViewOptions): PlanView {
  const { plan, left = [] } = report;
  const { showKeys } = options;
  const folds = foldsOf(report, options);
  const places = shownEnvironments(report);
  return {
    folds,
    withheld: byEnvironment(plan.withheld, places).map((each) =>
      withheldRow(each, report, showKeys),
    ),
    liveKills: byEnvironment(plan.liveKills, places).map(liveKillRow),
    left: byEnvironment(left, places).map((each) => leftRow(each, showKeys)),
    guards: guardTexts(report),
    caveats: caveatsOf(report),
    commit:
      folds.length > 1 || folds.some(({ keys }) => keys.length > 1)
        ? shared(folds.map(({ commit }) => commit))
        : '',
  };
}

/** A fold of objects with equal changes is in the place of its first object. */
function foldsOf(report: PlanReport, { showKeys, verbose = false }: ViewOptions): Fold[] {
  const groups = grouped(objectsOf(report, showKeys), (fold) => {
    const isSingle =
      verbose || showKeys || fold.isUrgent || fold.rows.some(({ change }) => change.rename);
    return isSingle ? String(fold.keys[0]) : `${fold.kind} ${sameText(fold, report)}`;
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined || group.length < FOLD_FROM ? group : [folded(first, group)];
  });
}

function folded(first: Fold, group: readonly Fold[]): Fold {
  return {
    ...first,
    keys: group.flatMap(({ keys }) => keys),
    rows: first.rows.map((row) => ({ ...row, origin: [], lines: foldedLines(row) })),
    place: '',
    commit: shared(group.map(({ commit }) => commit)),
    titles: new Set(group.flatMap(({ titles }) => [...titles])),
  };
}

/** Without the lines of a new object: the table has its shares and rules, and they are equal in a fold. */
function foldedLines({ change, lines }: ChangeRow): Row['lines'] {
  return change.action === 'create' ? [] : lines;
}

/** Text that is equal for objects of which every report prints the same; it is never shown. */
function sameText({ rows }: Fold, report: PlanReport): string {
  return JSON.stringify(
    rows.map((row) => [
      ...[row.mark.text, row.subject, row.deed.text, row.fact, row.reason],
      briefOf(row.change, report),
      ...foldedLines(row).map(plainText),
    ]),
  );
}

/** Each object with all its changes, the most urgent first, and otherwise in the order of the plan. */
function objectsOf(report: PlanReport, showKeys: boolean): Fold[] {
  const places = shownEnvironments(report);
  const byKey = grouped(report.plan.changes, ({ ref }) => keyOf(ref.kind, ref.name));
  return [...byKey]
    .map(([key, changes]) => {
      return objectFold(key, byEnvironment(changes, places), report, showKeys);
    })
    .map((fold) => ({ fold, weight: foldWeight(fold, report).slice(0, -1) }))
    .toSorted((a, b) => byWeight(a.weight, b.weight))
    .map(({ fold }) => fold);
}

function objectFold(
  key: ObjectKey,
  changes: readonly Change[],
  report: PlanReport,
  showKeys: boolean,
): Fold {
  const rows = changes.map((change) => changeRow(change, report, showKeys));
  const place = shared(rows.map((row) => row.place));
  const commit = shared(rows.map((row) => row.commit));
  return {
    kind: changes[0]?.ref.kind ?? 'flag',
    keys: [key],
    rows: rows.map((row) => ({
      ...row,
      subject: subjectOf(row.change),
      origin: [place === '' ? row.place : '', commit === '' ? row.commit : ''].filter(Boolean),
    })),
    place,
    commit,
    titles: new Set(changes.map((change) => report.notes.get(noteKey(change))?.title ?? '')),
    risks: new Set(changes.flatMap((change) => risksOf(change, report))),
    isUrgent: changes.some((change) => isUrgent(change, report)),
  };
}

/** The weight of the heaviest change. */
function foldWeight({ rows }: Fold, report: PlanReport): readonly number[] {
  return rows.map(({ change }) => weightOf(change, report)).toSorted(byWeight)[0] ?? [];
}

/** The number of objects in a fold: `12 flags`. */
export function countText({ kind, keys }: Fold): string {
  return kind === 'identities' ? `${String(keys.length)} identities` : plural(keys.length, kind);
}

export function namesOf({ kind, keys }: Fold): string[] {
  return keys.map((key) => key.slice(kind.length + 1));
}

/** The environment, or words for changes outside of any environment. */
function subjectOf({ ref }: Change): string {
  return ref.environment === null ? `the ${ref.kind} itself` : clean(ref.environment);
}

/** The text, if all texts are equal; otherwise empty. */
function shared(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  return others.length === 0 ? first : '';
}

/** Node 20 has no `Map.groupBy`. */
function grouped<K, T>(items: readonly T[], keyOfItem: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
