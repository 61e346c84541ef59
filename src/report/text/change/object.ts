import type { Change } from '../../../model/plan.js';
import { keyOf } from '../../../model/ref.js';
import { isUrgent, plannedObjects, type PlannedObject } from '../../planned-objects.js';
import type { PlanReport } from '../../plan-report.js';
import { clean } from '../../sanitize.js';
import { itemText, plural } from '../../values.js';
import { changeLines, commitText, originSpans, placeText, type Headline } from './change.js';
import { EMPTY_LINE, span, type Line } from '../layout.js';

/** From so many objects on, those to which the same happens are told once. */
const FOLD_FROM = 10;
/** The objects that a fold names; the others are counted. */
const SHOWN_NAMES = 3;

/** What decides how much is told of a plan. */
export interface ObjectOptions {
  /** Names the first keys of each list; otherwise they are counted. */
  readonly showKeys: boolean;
  /** Lists each object, however many are changed alike. */
  readonly verbose?: boolean;
}

/**
 * The changes of a plan, object by object, each environment on lines of its own; see `plannedObjects` for the order.
 *
 * @param told the commit that stands above all objects, see `sharedCommit`; empty: none does.
 */
export function objectsLines(report: PlanReport, told: string, options: ObjectOptions): Line[] {
  return alikeObjects(report, options).flatMap((each) => [
    EMPTY_LINE,
    ...alikeLines(each, { told }, report, options),
  ]);
}

/** The commit behind all changes of several objects, cleaned; empty where there is no such commit. */
export function sharedCommit(report: PlanReport): string {
  const { changes } = report.plan;
  const objects = new Set(changes.map(({ ref }) => keyOf(ref.kind, ref.name)));
  return objects.size > 1 ? sharedText(changes, report, commitText) : '';
}

/**
 * The objects of a plan in the order of `plannedObjects`; those to which the same happens in groups, each in the place of
 * its first. All others are groups of one.
 */
export function alikeObjects(
  report: PlanReport,
  { verbose = false, showKeys }: ObjectOptions,
): PlannedObject[][] {
  const groups = new Map<string, PlannedObject[]>();
  for (const object of plannedObjects(report)) {
    const isSingle = verbose || showKeys || isTold(object, report);
    const key = isSingle ? object.key : `${object.kind} ${sameText(object, report)}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(object);
  }
  return [...groups.values()].flatMap((group) =>
    group.length < FOLD_FROM ? group.map((each) => [each]) : [group],
  );
}

/** Whether an object is never folded: a reviewer has to look at it by itself. */
function isTold({ changes }: PlannedObject, report: PlanReport): boolean {
  return changes.some((change) => isUrgent(change, report) || change.rename !== undefined);
}

/**
 * Text that is equal where the same happens to two objects. New ones are alike whatever they hold. It is compared and never
 * shown, so that it is not laid out: that would take most of the time of a large plan.
 */
function sameText({ changes }: PlannedObject, report: PlanReport): string {
  const lines = changes.flatMap((change) => foldedLines(change, report));
  return JSON.stringify(
    lines.map(({ indent, spans }) => [indent, spans.map(({ text }) => text).join('')]),
  );
}

/** A change as it is told of many objects: of new ones the headline alone. */
function foldedLines(change: Change, report: PlanReport): Line[] {
  const lines = changeLines(change, report, false, { subject: subjectOf(change), origin: [] });
  return change.action === 'create' ? lines.slice(0, 1) : lines;
}

/** What stands around the lines of objects. */
interface Around {
  /** What stands above all objects, and is not said again; empty: nothing. */
  readonly told?: string;
  /** How many of several objects are named; the others are counted. */
  readonly shownNames?: number;
}

/** The lines of one object, or of several to which the same happens. */
export function alikeLines(
  alike: readonly PlannedObject[],
  { told = '', shownNames = SHOWN_NAMES }: Around,
  report: PlanReport,
  { showKeys }: ObjectOptions,
): Line[] {
  const [object] = alike;
  if (!object) return [];
  if (alike.length > 1) {
    const { count, names } = countedNames(alike, shownNames);
    const more = alike.length > shownNames ? ' (--verbose lists them)' : '';
    return [
      headingLine(count, [], `: ${names}${more}`),
      ...object.changes.flatMap((change) => foldedLines(change, report)),
    ];
  }
  const { changes } = object;
  const place = sharedText(changes, report, placeText);
  const commit = sharedText(changes, report, commitText);
  const headOf = (change: Change): Headline => ({
    subject: subjectOf(change),
    origin: [
      ...(place === '' ? [placeText(change)] : []),
      ...(commit === '' ? [commitText(change, report)] : []),
    ].filter((text) => text !== ''),
  });
  const origin = [place, commit === told ? '' : commit].filter((text) => text !== '');
  return [
    headingLine(clean(object.key), origin),
    ...changes.flatMap((change) => changeLines(change, report, showKeys, headOf(change))),
  ];
}

/** How many objects a group holds, and the names of the first. */
export function countedNames(
  alike: readonly PlannedObject[],
  shownNames = SHOWN_NAMES,
): { readonly count: string; readonly names: string } {
  const kind = alike[0]?.kind ?? 'flag';
  const names = alike.map(({ key }) => key.slice(kind.length + 1));
  const count =
    kind === 'identities' ? `${String(alike.length)} identities` : plural(alike.length, kind);
  return { count, names: itemText(names, shownNames) };
}

function headingLine(subject: string, origin: readonly string[], rest = ''): Line {
  return { indent: 0, spans: [span(subject, 'strong'), span(rest), ...originSpans(origin)] };
}

/** The environment, or words for what is no part of any. */
function subjectOf({ ref }: Change): string {
  return ref.environment === null ? `the ${ref.kind} itself` : clean(ref.environment);
}

/** A text that is the same for all changes; empty where it is not. */
function sharedText(
  changes: readonly Change[],
  report: PlanReport,
  textOf: (change: Change, report: PlanReport) => string,
): string {
  const texts = new Set(changes.map((change) => textOf(change, report)));
  const [text = ''] = texts;
  return texts.size === 1 ? text : '';
}
