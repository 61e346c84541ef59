import type { Change } from '../../model/plan.js';
import { outcomeOf, type PlanReport, shownEnvironments } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { firstOf, itemText, moreText, plural } from '../values.js';
import { briefOf } from '../view/brief.js';
import { countText, namesOf, type Fold } from '../view/folds.js';
import { chunked, type Block, code, joined, Markup, trusted } from './markup.js';
import { grouped } from '../../model/collections.js';
import { RISKS } from '../../model/impact.js';
import { clean } from '../sanitize.js';
import type { PlanView } from '../view/plan-view.js';
import { type PlannedRisk, risksIn, sizeOf } from '../view/impact.js';
import type { Caveats } from '../view/sentences.js';

const NAME_COLUMNS = 100;
const LINE_COLUMNS = 120;
const SHOWN_LINES = 3;
const SHOWN_TITLES = 2;
const SHOWN_NAMES = 3;
const SHOWN_PLACES = 6;
const LINE_BREAK = '<br>';

/** Protected environments come first. If titles of commits differ they have a column; a common one is above the table. */
export function tableBlocks(folds: readonly Fold[], report: PlanReport): Block[] {
  const titles = titlesOf(folds);
  const [only = ''] = titles;
  const shared = titles.size === 1 ? only : undefined;
  const parts = columnsOf(report).flatMap((columns) => {
    const here = folds.filter(({ rows }) =>
      rows.some(({ change }) => columns.includes(change.ref.environment)),
    );
    const rows = here.map((fold) => tableRow(fold, columns, report, shared === undefined));
    const head = headOf(columns, shared);
    return chunked(rows, ({ length }) => length).map((part) => joined([head, ...part], '\n'));
  });
  const title = shared === undefined || shared === '' ? [] : [trusted`All of it: ${shared}`];
  return parts.map((table, index) => ({
    rank: 'table',
    markup: () => (index === 0 ? joined([...title, table], '\n\n') : table),
  }));
}

type Place = string | null;

function columnsOf(report: PlanReport): Place[][] {
  const changed = new Set(report.plan.changes.map(({ ref }) => ref.environment));
  const places = [...shownEnvironments(report), null].filter((place) => changed.has(place));
  const groups: Place[][] = [];
  for (let from = 0; from < places.length; from += SHOWN_PLACES) {
    groups.push(places.slice(from, from + SHOWN_PLACES));
  }
  return groups;
}

function headOf(columns: readonly Place[], shared: string | undefined): Markup {
  const names = columns.map((place) =>
    place === null ? trusted`workspace level` : trusted`${cut(place, NAME_COLUMNS)}`,
  );
  const head = row([trusted`object`, ...names, ...(shared === undefined ? [trusted`commit`] : [])]);
  const count = columns.length + (shared === undefined ? 2 : 1);
  return joined([head, Markup.own(`|${' --- |'.repeat(count)}`)], '\n');
}

function row(cells: readonly Markup[]): Markup {
  return trusted`| ${joined(cells, ' | ')} |`;
}

function tableRow(
  fold: Fold,
  columns: readonly Place[],
  report: PlanReport,
  hasTitles: boolean,
): Markup {
  const [key = '', ...others] = fold.keys;
  const names = cut(itemText(namesOf(fold), SHOWN_NAMES), LINE_COLUMNS);
  const name =
    others.length === 0 ? code(cut(key, NAME_COLUMNS)) : trusted`**${countText(fold)}**: ${names}`;
  const cells = columns.map((place) => {
    const here = fold.rows.filter(({ change }) => change.ref.environment === place);
    if (fold.members && here.length > 0) return trusted`**${here.length} new**`;
    const facts = here.map(({ change }) => cell(change, report));
    return joined(facts, LINE_BREAK);
  });
  const titles = [...titlesOf([fold])].filter(Boolean);
  return row([
    fold.isRisky ? trusted`${name} ⚠️` : name,
    ...cells,
    ...(hasTitles ? [joined(firstLines(titles, SHOWN_TITLES, moreText), LINE_BREAK)] : []),
  ]);
}

function firstLines(
  texts: readonly string[],
  limit: number,
  rest: (more: number) => string,
): Markup[] {
  return firstOf(texts, limit, String, rest).map((text) => trusted`${text}`);
}

function titlesOf(folds: readonly Fold[]): ReadonlySet<string> {
  return new Set(folds.flatMap(({ titles }) => [...titles].map((each) => cut(each, LINE_COLUMNS))));
}

function cell(change: Change, report: PlanReport): Markup {
  const { fact, reasons, share, others, reach } = briefOf(change, report);
  const status = outcomeOf(report, change.id)?.status ?? 'applied';
  const why = reasons.length === 0 ? trusted`` : trusted` (${reasons.join(', ')})`;
  const lines = others.map((line) => cut(line, LINE_COLUMNS));
  return joined(
    [
      ...(status === 'applied' ? [] : [trusted`**${status}**`]),
      trusted`**${cut(fact, LINE_COLUMNS)}**${why}`,
      ...(share ? [trusted`${bar(share.before ?? 0)} → ${bar(share.after ?? 0)}`] : []),
      ...firstLines(lines, SHOWN_LINES, (more) => `${moreText(more)} below`),
      ...(reach === undefined ? [] : [trusted`reaches: ${cut(reach, LINE_COLUMNS)}`]),
    ],
    LINE_BREAK,
  );
}

const BAR_BLOCKS = 10;

/** A percentage as a bar. It is empty only for 0, and full only for 100. */
function bar(percent: number): Markup {
  const rounded = Math.round((percent / 100) * BAR_BLOCKS);
  const most = percent < 100 ? BAR_BLOCKS - 1 : BAR_BLOCKS;
  const full = Math.min(most, Math.max(percent > 0 ? 1 : 0, rounded));
  return code('█'.repeat(full) + '░'.repeat(BAR_BLOCKS - full));
}

const SHOWN_OBJECTS = 8;
const SHOWN_TEXTS = 12;
const RISK_COLUMNS = 80;
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
  const archived = gone.filter(({ archive }) => archive);
  const deleted = gone.filter(({ archive }) => !archive);
  const released = liveKills.filter(({ wasOrdered }) => wasOrdered === true);
  const unordered = liveKills.filter(({ wasOrdered }) => wasOrdered !== true);
  const lines = [
    ...boundedItems('⛔', guards.refusals, 'more refusal', ' by guards'),
    ...boundedItems(
      '⚠️',
      guards.passed.map((text) => `${text}; refused by a guard, and approved`),
      'more refusal',
      ' that the operator let pass',
    ),
    ...boundedItems('⚠️', guards.allowed, 'more shift', ' that the specs allow'),
    ...items('deleted', deleted),
    ...items('archived', archived),
    // The headline names the only risk, unless a failure has its place.
    ...(risks.length > 1 || report.outcomes ? riskItems(risks, report) : []),
    ...items('left killed, though git no longer orders it', released),
    ...items('killed on the service, not ordered by git', unordered),
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

function boundedItems(sign: string, texts: readonly string[], more: string, end = ''): Markup[] {
  const mark = Markup.own(sign);
  return firstOf(
    texts,
    SHOWN_TEXTS,
    (text) => trusted`- ${mark} ${cut(text, TEXT_COLUMNS)}`,
    (rest) => trusted`- ${mark} … and ${plural(rest, more)}${end}`,
  );
}

/** The risk of the largest change comes first; of equal ones, the first in `RISKS`. */
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
  const names = changes.slice(0, SHOWN_OBJECTS).map(({ id }) => code(cut(clean(id), RISK_COLUMNS)));
  const more = changes.length - names.length;
  const rest = more > 0 ? trusted` and ${more} more` : trusted``;
  return [trusted`- ⚠️ **${cut(word, RISK_COLUMNS)}**: ${joined(names, ', ')}${rest}`];
}
