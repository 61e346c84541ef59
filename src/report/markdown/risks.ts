import { RISKS, type Risk } from '../../model/impact.js';
import type { Change, LiveKill } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { plural } from '../values.js';
import { guardTexts } from '../view/guards.js';
import type { Fold, PlanView } from '../view/plan-view.js';
import { risksOf, riskWord, sizeOf } from '../view/impact.js';
import type { Caveats } from '../view/sentences.js';
import type { Block } from './blocks.js';
import { code, joined, Markup, trusted } from './markup.js';

/** Each risk names this many objects and counts the others; the tables mark each of them. */
const SHOWN_OBJECTS = 8;
const SHOWN_TEXTS = 12;
const NAME_COLUMNS = 80;
const TEXT_COLUMNS = 240;

/**
 * Everything that a reviewer should not overlook: refusals of guards, deletions, risks of the impact, and unknowns. The
 * list is always shown and never folded, so each risk is one line, whatever its number of objects.
 */
export function riskBlocks(
  report: PlanReport,
  { folds: [first] }: PlanView,
  { serious, ramps, reminders }: Caveats,
): Block[] {
  const groups = riskGroups(report);
  const risks = groups.reduce((sum, { changes }) => sum + changes.length, 0);
  const guards = guardTexts(report);
  const removals = report.plan.changes.filter(({ action }) => action === 'delete');
  // The headline names an object of which nothing is left.
  const isNamed = !report.outcomes && first?.keys.length === 1 && sameChanges(first, removals);
  const gone = isNamed ? [] : removals;
  const lines = [
    ...boundedItems('⛔', guards.refusals, 'more refusal', ' by guards'),
    ...boundedItems('⚠️', guards.allowed, 'more shift', ' that the specs allow'),
    ...items(
      'deleted',
      gone.filter(({ archive }) => !archive),
    ),
    ...items(
      'archived',
      gone.filter(({ archive }) => archive === true),
    ),
    // The headline names the only risk, unless a failure has its place.
    ...(risks > 1 || report.outcomes ? riskItems(groups) : []),
    ...items(
      'left killed, though git no longer orders it',
      report.plan.liveKills.filter(isReleased),
    ),
    ...items(
      'killed on the service, not ordered by git',
      report.plan.liveKills.filter((kill) => !isReleased(kill)),
    ),
    ...(report.unknowns ?? []).map(
      ({ message }) => trusted`- ⚠️ ${cut(clean(message), TEXT_COLUMNS)}`,
    ),
    ...serious.map((text) => trusted`- ⚠️ ${cut(text, TEXT_COLUMNS)}`),
    ...boundedItems('⏰', reminders, 'more reminder'),
    ...boundedItems('📈', ramps, 'more ramp'),
  ];
  return lines.length === 0
    ? []
    : [{ rank: 'head', what: 'list of risks', markup: () => joined(lines, '\n') }];
}

function sameChanges({ rows }: Fold, changes: readonly Change[]): boolean {
  return rows.length === changes.length && rows.every(({ change }) => changes.includes(change));
}

function isReleased({ wasOrdered }: LiveKill): boolean {
  return wasOrdered === true;
}

/** The first texts, each on a line, and the number of the others. */
function boundedItems(sign: string, texts: readonly string[], more: string, end = ''): Markup[] {
  const rest = texts.length - SHOWN_TEXTS;
  const mark = Markup.own(sign);
  return [
    ...texts.slice(0, SHOWN_TEXTS).map((text) => trusted`- ${mark} ${cut(text, TEXT_COLUMNS)}`),
    ...(rest > 0 ? [trusted`- ${mark} … and ${plural(rest, more)}${end}`] : []),
  ];
}

/** The changes of one risk in one environment. */
interface RiskGroup {
  readonly risk: Risk;
  readonly place: string | null;
  readonly word: string;
  readonly changes: readonly Change[];
}

/** The risk of the largest change first, and within each risk likewise; equals in the order of `RISKS` and the plan. */
function riskGroups(report: PlanReport): RiskGroup[] {
  const largest = report.plan.changes.toSorted((a, b) => sizeOf(b, report) - sizeOf(a, report));
  const sizeOfGroup = ({ changes: [first] }: RiskGroup): number =>
    first ? sizeOf(first, report) : 0;
  return RISKS.flatMap((risk) => {
    const found = largest.filter((change) => risksOf(change, report).includes(risk));
    const places = new Set(found.map(({ ref }) => ref.environment));
    return [...places].map((place) => ({
      risk,
      place,
      word: riskWord(risk, place),
      changes: found.filter(({ ref }) => ref.environment === place),
    }));
  }).sort((a, b) => sizeOfGroup(b) - sizeOfGroup(a));
}

/** One line for each risk, and one for each environment if the words name it. */
function riskItems(groups: readonly RiskGroup[]): Markup[] {
  return [...new Set(groups.map(({ word }) => word))].flatMap((word) =>
    items(
      word,
      groups.filter((group) => group.word === word).flatMap(({ changes }) => changes),
    ),
  );
}

/** A line that names the first objects and counts the others. */
function items(word: string, changes: readonly Pick<Change, 'id'>[]): Markup[] {
  if (changes.length === 0) return [];
  const names = changes.slice(0, SHOWN_OBJECTS).map(({ id }) => code(cut(clean(id), NAME_COLUMNS)));
  const more = changes.length - names.length;
  const rest = more > 0 ? trusted` and ${more} more` : trusted``;
  return [trusted`- ⚠️ **${cut(word, NAME_COLUMNS)}**: ${joined(names, ', ')}${rest}`];
}
