import { RISKS, type Risk } from '../../model/impact.js';
import type { Change, LiveKill } from '../../model/plan.js';
import { keyOf } from '../../model/ref.js';
import { risksOf } from '../planned-objects.js';
import { clean } from '../sanitize.js';
import { caveatsOf } from '../text/caveats.js';
import { allowedLines, guardLines } from '../text/guards.js';
import { riskWord } from '../text/impact.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { plural } from '../values.js';
import type { Block } from './blocks.js';
import { code, joined, type Markup, trusted } from './markup.js';

/**
 * The objects that are named for each risk. The others are counted, and each is marked in the
 * tables.
 */
const SHOWN_OBJECTS = 8;
const SHOWN_GUARDS = 12;
/** The risks, and the objects of each, that the headline names. */
const HEADLINE_GROUPS = 3;
const HEADLINE_OBJECTS = 3;
const NAME_COLUMNS = 80;
const GUARD_COLUMNS = 240;

/**
 * What a reviewer should not overlook: what refuses the plan, deletions, risks of the impact, what
 * could not be known. The list is always shown and never folded, so each risk is one line, however
 * many objects it is about.
 */
export function riskBlocks(report: PlanReport): Block[] {
  const groups = riskGroups(report);
  const { serious, ramps, reminders } = caveatsOf(report);
  const lines = [
    ...guardItems(report),
    ...allowedItems(report),
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
      ({ message }) => trusted`- ⚠️ ${cut(clean(message), GUARD_COLUMNS)}`,
    ),
    ...serious.map((text) => trusted`- ⚠️ ${cut(text, GUARD_COLUMNS)}`),
    ...boundedItems('⏰', 'reminder', reminders),
    ...boundedItems('📈', 'ramp', ramps),
  ];
  return lines.length === 0
    ? []
    : [{ rank: 'head', what: 'list of risks', markup: () => joined(lines, '\n') }];
}

function isReleased({ wasOrdered }: LiveKill): boolean {
  return wasOrdered === true;
}

/** The risks of the changes for a headline: how many, and the first by name. Null: there is none. */
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

/** How a sentence about the objects of a risk ends. */
function riskPhrase(risk: Risk, place: string | null): Markup {
  const where = code(cut(place ?? 'the workspace', NAME_COLUMNS));
  const phrases: Readonly<Record<Risk, Markup>> = {
    'all-of-production': trusted`to 100 % of ${where}`,
    kills: trusted`killed in ${where}`,
    'moves-between-variants': trusted`moves users between variants in ${where}`,
    'default-changed-while-killed': trusted`with another default while killed in ${where}`,
    'serves-nobody': trusted`serves nobody in ${where}`,
  };
  return phrases[risk];
}

/** The ladders that are not climbed yet. */
function boundedItems(sign: '⏰' | '📈', what: string, texts: readonly string[]): Markup[] {
  const more = texts.length - SHOWN_GUARDS;
  return [
    ...texts.slice(0, SHOWN_GUARDS).map((text) => trusted`- ${sign} ${cut(text, GUARD_COLUMNS)}`),
    ...(more > 0 ? [trusted`- ${sign} … and ${plural(more, `more ${what}`)}`] : []),
  ];
}

/** Refusals by guards, in the words of the text report. */
function guardItems(report: PlanReport): Markup[] {
  const texts = guardLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  // The last line of the text report is the way out, which is no finding.
  const findings = texts.slice(0, -1);
  const more = findings.length - SHOWN_GUARDS;
  return [
    ...findings
      .slice(0, SHOWN_GUARDS)
      .map((text) => trusted`- ⛔ ${cut(text.replace(/^✗ /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [trusted`- ⛔ … and ${plural(more, 'more refusal')} by guards`] : []),
  ];
}

/** Shifts that a guard would have refused and the specs allow. */
function allowedItems(report: PlanReport): Markup[] {
  const texts = allowedLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  const more = texts.length - SHOWN_GUARDS;
  return [
    ...texts
      .slice(0, SHOWN_GUARDS)
      .map((text) => trusted`- ⚠️ ${cut(text.replace(/^! /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [trusted`- ⚠️ … and ${plural(more, 'more shift')} that the specs allow`] : []),
  ];
}

/** The changes of one risk in one environment. */
interface RiskGroup {
  readonly risk: Risk;
  readonly place: string | null;
  readonly word: string;
  readonly changes: readonly Change[];
}

/** In the order of `RISKS`, and within each in that of the plan. */
function riskGroups(report: PlanReport): RiskGroup[] {
  return RISKS.flatMap((risk) => {
    const found = report.plan.changes.filter((change) => risksOf(change, report).includes(risk));
    const places = new Set(found.map(({ ref }) => ref.environment));
    return [...places].map((place) => ({
      risk,
      place,
      word: riskWord(risk, place),
      changes: found.filter(({ ref }) => ref.environment === place),
    }));
  });
}

/** One line for each risk, and for each environment where the words name it. */
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
