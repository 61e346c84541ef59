import { RISKS, type Risk } from '../../model/impact.js';
import type { Change, LiveKill } from '../../model/plan.js';
import { keyOf } from '../../model/ref.js';
import { clean } from '../sanitize.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { plural } from '../values.js';
import { guardTexts } from '../view/guards.js';
import { risksOf, riskWord, sizeOf } from '../view/impact.js';
import { caveatsOf } from '../view/sentences.js';
import type { Block } from './blocks.js';
import { code, joined, Markup, trusted } from './markup.js';

/** Each risk names this many objects and counts the others; the tables mark each of them. */
const SHOWN_OBJECTS = 8;
const SHOWN_TEXTS = 12;
/** The headline names this many risks, and this many objects of each. */
const HEADLINE_GROUPS = 3;
const HEADLINE_OBJECTS = 3;
const NAME_COLUMNS = 80;
const TEXT_COLUMNS = 240;

/**
 * Everything that a reviewer should not overlook: refusals of guards, deletions, risks of the impact, and unknowns. The
 * list is always shown and never folded, so each risk is one line, whatever its number of objects.
 */
export function riskBlocks(report: PlanReport): Block[] {
  const groups = riskGroups(report);
  const { serious, ramps, reminders } = caveatsOf(report);
  const guards = guardTexts(report);
  const lines = [
    ...boundedItems('⛔', guards.refusals, 'more refusal', ' by guards'),
    ...boundedItems('⚠️', guards.allowed, 'more shift', ' that the specs allow'),
    ...items(
      'deleted',
      report.plan.changes.filter(({ action, archive }) => action === 'delete' && !archive),
    ),
    ...items(
      'archived',
      report.plan.changes.filter(({ archive }) => archive === true),
    ),
    ...(groups.length > 1 ? riskItems(groups) : []),
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

function isReleased({ wasOrdered }: LiveKill): boolean {
  return wasOrdered === true;
}

/** The risks of the changes for a headline: their number, and the first by name; null if there is none. */
export function risksText(report: PlanReport): Markup | null {
  const groups = riskGroups(report);
  const count = groups.reduce((sum, { changes }) => sum + changes.length, 0);
  if (count === 0) return null;
  const texts = groups.slice(0, HEADLINE_GROUPS).map(({ risk, place, changes }) => {
    const names = changes.slice(0, HEADLINE_OBJECTS).map(({ ref }) => {
      return code(cut(keyOf(ref.kind, ref.name), NAME_COLUMNS));
    });
    const more = changes.length - names.length;
    const all = joined([...names, ...(more > 0 ? [trusted`${more} more`] : [])], ', ');
    return trusted`${all} ${riskPhrase(risk, place)}`;
  });
  const rest = groups.slice(HEADLINE_GROUPS).length > 0 ? [trusted`…`] : [];
  return trusted`${plural(count, 'risk')}: ${joined([...texts, ...rest], '; ')}`;
}

/** The end of a sentence about the objects of a risk. */
function riskPhrase(risk: Risk, place: string | null): Markup {
  const where = code(cut(place ?? 'the workspace', NAME_COLUMNS));
  const phrases: Readonly<Record<Risk, Markup>> = {
    'all-of-production': trusted`to 100 % of ${where}`,
    'most-of-production': trusted`gives at least half of ${where} something else`,
    'ramp-ends': trusted`has a ramp that ends with at least half of ${where} moved`,
    kills: trusted`killed in ${where}`,
    'moves-between-variants': trusted`moves users between variants in ${where}`,
    'default-changed-while-killed': trusted`with another default while killed in ${where}`,
    'serves-nobody': trusted`serves nobody in ${where}`,
  };
  return phrases[risk];
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
