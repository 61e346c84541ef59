import { grouped } from '../../model/collections.js';
import { RISKS } from '../../model/impact.js';
import type { Change, LiveKill } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { firstOf, plural } from '../values.js';
import type { Fold } from '../view/folds.js';
import type { PlanView } from '../view/plan-view.js';
import { type PlannedRisk, risksIn, sizeOf } from '../view/impact.js';
import type { Caveats } from '../view/sentences.js';
import { type Block, code, joined, Markup, trusted } from './markup.js';

/** The tables mark each of the others. */
const SHOWN_OBJECTS = 8;
const SHOWN_TEXTS = 12;
const NAME_COLUMNS = 80;
const TEXT_COLUMNS = 240;

/** The list is always shown and never folded, so each risk is one line, whatever its number of objects. */
export function riskBlocks(
  report: PlanReport,
  { folds: [first], guards }: PlanView,
  { serious, ramps, reminders }: Caveats,
): Block[] {
  const risks = risksIn(report);
  const { unknowns = [], plan } = report;
  const { changes, liveKills } = plan;
  const removals = changes.filter(({ action }) => action === 'delete');
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
      gone.filter(({ archive }) => archive),
    ),
    // The headline names the only risk, unless a failure has its place.
    ...(risks.length > 1 || report.outcomes ? riskItems(risks, report) : []),
    ...items('left killed, though git no longer orders it', liveKills.filter(isReleased)),
    ...items(
      'killed on the service, not ordered by git',
      liveKills.filter((kill) => !isReleased(kill)),
    ),
    ...[...unknowns.map(({ message }) => clean(message)), ...serious].map(
      (text) => trusted`- ⚠️ ${cut(text, TEXT_COLUMNS)}`,
    ),
    ...boundedItems('⏰', reminders, 'more reminder'),
    ...boundedItems('📈', ramps, 'more ramp'),
  ];
  return lines.length === 0 ? [] : [{ rank: 'head', markup: () => joined(lines, '\n') }];
}

function sameChanges({ rows }: Fold, changes: readonly Change[]): boolean {
  return rows.length === changes.length && rows.every(({ change }) => changes.includes(change));
}

function isReleased({ wasOrdered }: LiveKill): boolean {
  return wasOrdered === true;
}

function boundedItems(sign: string, texts: readonly string[], more: string, end = ''): Markup[] {
  const mark = Markup.own(sign);
  return firstOf(
    texts,
    SHOWN_TEXTS,
    (text) => trusted`- ${mark} ${cut(text, TEXT_COLUMNS)}`,
    (rest) => trusted`- ${mark} … and ${plural(rest, more)}${end}`,
  );
}

/**
 * One line for each risk, and one for each environment if the words name it. The risk of the largest change comes
 * first; of equal ones, the first in `RISKS`.
 */
function riskItems(risks: readonly PlannedRisk[], report: PlanReport): Markup[] {
  const inOrder = risks.toSorted(
    (a, b) =>
      sizeOf(b.change, report) - sizeOf(a.change, report) ||
      RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk),
  );
  const placed = grouped(
    inOrder,
    ({ risk, change }) => `${risk} ${String(change.ref.environment)}`,
  );
  return [...grouped([...placed.values()].flat(), ({ word }) => word)].flatMap(([word, found]) =>
    items(
      word,
      found.map(({ change }) => change),
    ),
  );
}

function items(word: string, changes: readonly Pick<Change, 'id'>[]): Markup[] {
  if (changes.length === 0) return [];
  const names = changes.slice(0, SHOWN_OBJECTS).map(({ id }) => code(cut(clean(id), NAME_COLUMNS)));
  const more = changes.length - names.length;
  const rest = more > 0 ? trusted` and ${more} more` : trusted``;
  return [trusted`- ⚠️ **${cut(word, NAME_COLUMNS)}**: ${joined(names, ', ')}${rest}`];
}
