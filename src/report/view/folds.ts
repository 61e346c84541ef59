import { grouped } from '../../model/collections.js';
import { isCreation, noteKey, type Change } from '../../model/plan.js';
import { keyOf, type Kind, type ObjectKey } from '../../model/ref.js';
import {
  byEnvironment,
  kindText,
  isUndone,
  type PlanReport,
  shownEnvironments,
} from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plainText } from '../text/layout.js';
import { counted, isRules, plural } from '../values.js';
import { briefOf, servedText } from './brief.js';
import { byWeight, isUrgent, risksOf, weightOf } from './impact.js';
import { changeRow, type ChangeRow, type Row } from './row.js';

export interface ViewOptions {
  /** Names the first keys of each list; otherwise keys are counted. */
  readonly showKeys: boolean;
  readonly verbose?: boolean;
}

export interface Fold {
  readonly kind: Kind;
  readonly keys: readonly ObjectKey[];
  /** Of the first object: first its environments as `shownEnvironments` orders them, then the object itself. */
  readonly rows: readonly ChangeRow[];
  /** Common to all declarations of one object; empty if there is none. */
  readonly place: string;
  readonly title: string;
  readonly titles: ReadonlySet<string>;
  readonly isRisky: boolean;
  readonly isUrgent: boolean;
  /** A new object in one line, `production on 10 %, staging on 100 %`; empty for others. */
  readonly fresh: string;
  /** For new objects of one folder, which need not be equal: each by itself. `rows` has the rows of all of them. */
  readonly members?: readonly Fold[];
}

/** From this number of objects on, those with equal changes are shown once. */
const FOLD_FROM = 10;

/** More folders than this are joined with those around them. */
const MOST_FOLDERS = 12;

/** A fold is in the place of its first object: of objects with equal changes, or of many new ones in one folder. */
export function foldsOf(
  report: PlanReport,
  { showKeys, verbose = false }: ViewOptions,
): readonly Fold[] {
  const objects = objectsOf(report, showKeys);
  if (verbose || showKeys) return objects;
  const folders = foldersOfMany(objects);
  const groups = grouped(objects, (fold) => {
    const folder = folders.get(fold);
    return folder === undefined ? String(fold.keys[0]) : `${fold.kind} in ${folder}`;
  });
  const inFolders = [...groups.values()].flatMap((group) => {
    const [first] = group;
    const folder = first && folders.get(first);
    if (!first || folder === undefined || group.length === 1) return group;
    const rows = group.flatMap((fold) => fold.rows);
    const members = foldedAlike(group, report);
    return [{ ...joined(first, group), rows, place: folder, fresh: placesText(rows), members }];
  });
  return foldedAlike(inFolders, report);
}

function foldedAlike(folds: readonly Fold[], report: PlanReport): readonly Fold[] {
  if (folds.length < FOLD_FROM) return folds;
  const groups = grouped(folds, (fold) => {
    const isSingle =
      fold.isUrgent || fold.members !== undefined || fold.rows.some(({ change }) => change.rename);
    return isSingle ? fold.keys.join() : `${fold.kind} ${sameText(fold, report)}`;
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length < FOLD_FROM) return group;
    const rows = first.rows.map((row) => ({ ...row, origin: [], lines: foldedLines(row) }));
    return [{ ...joined(first, group), rows, place: '' }];
  });
}

function foldersOfMany(objects: readonly Fold[]): ReadonlyMap<Fold, string> {
  const fresh = objects.filter((fold) => fold.fresh !== '' && !fold.isUrgent);
  if (fresh.length < FOLD_FROM) return new Map();
  const folders = foldersOf(fresh.map(({ place, rows }) => place || (rows.at(-1)?.place ?? '')));
  return new Map(fresh.map((fold, index) => [fold, folders[index] ?? '']));
}

/** The folder of the specs of each object, or one above it where there would be too many. */
function foldersOf(places: readonly string[]): string[] {
  const parts = places.map((place) => place.split('/').slice(0, -1));
  const deepest = Math.max(1, ...parts.map(({ length }) => length));
  const at = (depth: number): string[] => parts.map((each) => each.slice(0, depth).join('/'));
  for (let depth = deepest; depth > 1; depth -= 1) {
    if (new Set(at(depth)).size <= MOST_FOLDERS) return at(depth);
  }
  return at(1);
}

/** `production 6, staging 7`. */
function placesText(rows: readonly ChangeRow[]): string {
  const placed = rows.filter(({ change }) => change.ref.environment !== null);
  const counts = [...grouped(placed, ({ subject }) => subject)];
  return counts.map(([place, { length }]) => `${place} ${String(length)}`).join(', ');
}

function joined(first: Fold, group: readonly Fold[]): Fold {
  return {
    ...first,
    keys: group.flatMap(({ keys }) => keys),
    title: shared(group.map(({ title }) => title)),
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
    rows.map((row) => {
      const { mark, subject, deed, fact, reason } = row;
      const lines = foldedLines(row).map(plainText);
      return [mark.text, subject, deed.text, fact, reason, briefOf(row.change, report), ...lines];
    }),
  );
}

function objectsOf(report: PlanReport, showKeys: boolean): Fold[] {
  const places = shownEnvironments(report);
  const byKey = grouped(report.plan.changes, ({ ref }) => keyOf(ref.kind, ref.name));
  return [...byKey]
    .map(([key, changes]) => objectFold(key, byEnvironment(changes, places), report, showKeys))
    .map((fold) => {
      const weights = fold.rows.map(({ change }) => weightOf(change, report));
      return { fold, weight: weights.toSorted(byWeight)[0]?.slice(0, -1) ?? [] };
    })
    .toSorted((a, b) => byWeight(a.weight, b.weight))
    .map(({ fold }) => fold);
}

function objectFold(
  key: ObjectKey,
  changes: readonly Change[],
  report: PlanReport,
  showKeys: boolean,
): Fold {
  const found = changes.map((change) => changeRow(change, report, showKeys));
  const place = shared(found.map((row) => row.place));
  const title = shared(found.map((row) => row.title));
  const rows = found.map((row) => {
    const { kind, environment } = row.change.ref;
    const subject = environment === null ? `the ${kind} itself` : clean(environment);
    const origin = [place === '' ? row.place : '', title === '' ? row.title : ''].filter(Boolean);
    return { ...row, subject, origin };
  });
  return {
    kind: changes[0]?.ref.kind ?? 'flag',
    keys: [key],
    rows,
    place,
    title,
    titles: new Set(changes.map((change) => report.notes.get(noteKey(change))?.title ?? '')),
    isRisky: changes.some((change) => risksOf(change, report).length > 0),
    isUrgent: changes.some((change) => isUrgent(change, report)),
    fresh: isFresh(rows, report) ? freshText(rows, report) : '',
  };
}

function isFresh(rows: readonly ChangeRow[], report: PlanReport): boolean {
  return (
    rows.some(({ change }) => change.ref.environment === null) &&
    rows.every(({ change, reason }) => {
      const isPlain = !isUndone(change, report) && reason === '' && change.rename === undefined;
      return isPlain && isCreation(change);
    })
  );
}

/** `12 flags`, `12 new flags in flags/checkout`. */
export function countText({ kind, keys, place, members }: Fold): string {
  const { counted, countedNew } = kindText(kind);
  return members ? `${countedNew(keys.length)} in ${clean(place)}` : counted(keys.length);
}

export function namesOf({ kind, keys }: Fold): string[] {
  return keys.map((key) => key.slice(kind.length + 1));
}

export function shared(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  return others.length === 0 ? first : '';
}

/** `new flag:`, or after an apply `new flag created:`. */
export function freshWords(kind: string, rows: readonly ChangeRow[]): string {
  const isDone = rows.every(({ deed }) => !deed.text.startsWith('will '));
  return `new ${kind}${isDone ? ' created' : ''}:`;
}

/** Neighbours of which the same is said are joined. Rows come in the order of environments to show. */
function freshText(rows: readonly ChangeRow[], report: PlanReport): string {
  const places: { names: string[]; text: string }[] = [];
  for (const { change, subject } of rows) {
    if (change.ref.environment === null) continue;
    const text = definitionText(change, report);
    const last = places.at(-1);
    if (last?.text === text) last.names.push(subject);
    else places.push({ names: [subject], text });
  }
  if (places.length === 0) return 'in no environment yet';
  const texts = places.map(({ names, text }) => `${LIST.format(names)} ${text}`);
  return texts.join(texts.some((text) => text.includes(', ')) ? '; ' : ', ');
}

function definitionText(change: Change, report: PlanReport): string {
  const served = servedText(change, report);
  if (served === '') return change.keys ? plural(change.keys.added.length, 'key') : 'active';
  const rules = change.fields.find(({ path }) => path === '/rules')?.after;
  const targets = change.fields.reduce((sum, { keys }) => sum + (keys?.added.length ?? 0), 0);
  const parts = [
    ...counted(isRules(rules) ? rules.length : 0, 'rule'),
    ...counted(targets, 'target'),
  ];
  return [served, ...parts].join(', ');
}

/** `a`, `a and b`, `a, b and c`. */
export const LIST = new Intl.ListFormat('en-GB');
