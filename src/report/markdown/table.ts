import type { Bucket } from '../../model/flag/flag.js';
import type { Change } from '../../model/plan.js';
import { keysText } from '../masked-keys.js';
import { outcomeOf, type PlanReport } from '../plan-report.js';
import { cut, type FieldLine } from '../text/layout.js';
import { isBuckets, isRules, itemText } from '../values.js';
import { changedShares, sharesText } from '../view/buckets.js';
import { fieldLines } from '../view/field.js';
import { identityLines } from '../view/identities.js';
import { audienceText, impactOf } from '../view/impact.js';
import { countText, namesOf, shownEnvironments, type Fold } from '../view/plan-view.js';
import { contextOf, factText, fieldFact, killedText } from '../view/row.js';
import { wholeRuleLines } from '../view/rules.js';
import { KIND_TEXTS } from '../view/words.js';
import type { Block } from './blocks.js';
import { code, joined, Markup, trusted } from './markup.js';

const NAME_COLUMNS = 100;
const LINE_COLUMNS = 120;
/** Lines of a cell beside the fact and whom it reaches; the details below hold all. */
const SHOWN_LINES = 3;
const SHOWN_TITLES = 2;
const SHOWN_NAMES = 3;
/** Environments side by side; others go on in the next table. */
const SHOWN_PLACES = 6;
/**
 * UTF-16 code units of one table, about. A longer one goes on in the next, so that a budget can end
 * between the two.
 */
const TABLE_SIZE = 8_000;

const LINE_BREAK = Markup.own('<br>');

/**
 * What happens to each object in each environment, the protected environments first: by how much, and whom it reaches.
 * Titles of commits have a column where they differ; one that all changes share stands above.
 */
export function tableBlocks(folds: readonly Fold[], report: PlanReport): Block[] {
  const titles = titlesOf(folds);
  const [only = ''] = titles;
  const shared = titles.size === 1 ? only : undefined;
  const parts = columnsOf(report).flatMap((columns) => {
    const here = folds.filter(({ rows }) => rows.some(({ change }) => isIn(change, columns)));
    const rows = here.map((fold) => tableRow(fold, columns, { report, shared }));
    return tables(rows, headOf(columns, shared));
  });
  const title = shared === undefined || shared === '' ? [] : [trusted`All of it: ${shared}`];
  return parts.map((table, index) => ({
    rank: 'table',
    what: 'table',
    markup: () => (index === 0 ? joined([...title, table], '\n\n') : table),
  }));
}

/** An environment, or null: the level of the workspace. */
type Place = string | null;

/** The places where something changes, in groups that go side by side. */
function columnsOf(report: PlanReport): Place[][] {
  const changed = new Set(report.plan.changes.map(({ ref }) => ref.environment));
  const places = [...shownEnvironments(report), null].filter((place) => changed.has(place));
  const groups: Place[][] = [];
  for (let from = 0; from < places.length; from += SHOWN_PLACES) {
    groups.push(places.slice(from, from + SHOWN_PLACES));
  }
  return groups;
}

function isIn({ ref }: Change, columns: readonly Place[]): boolean {
  return columns.includes(ref.environment);
}

function headOf(columns: readonly Place[], shared: string | undefined): Markup {
  const names = columns.map((place) =>
    place === null ? trusted`workspace level` : trusted`${cut(place, NAME_COLUMNS)}`,
  );
  const head = row([trusted`object`, ...names, ...(shared === undefined ? [trusted`commit`] : [])]);
  const count = columns.length + (shared === undefined ? 2 : 1);
  return joined([head, Markup.own(`|${' --- |'.repeat(count)}`)], '\n');
}

/** Rows in tables of bounded size, each with its own head. */
function tables(rows: readonly Markup[], head: Markup): Markup[] {
  const parts: { rows: Markup[]; size: number }[] = [];
  for (const each of rows) {
    const last = parts.at(-1);
    if (last && last.size + each.length < TABLE_SIZE) {
      last.rows.push(each);
      last.size += each.length;
    } else parts.push({ rows: [each], size: each.length });
  }
  return parts.map((part) => joined([head, ...part.rows], '\n'));
}

function row(cells: readonly Markup[]): Markup {
  return trusted`| ${joined(cells, ' | ')} |`;
}

/** One object, or several to which the same happens. */
function tableRow(
  fold: Fold,
  columns: readonly Place[],
  { report, shared }: { readonly report: PlanReport; readonly shared: string | undefined },
): Markup {
  const [key = '', ...others] = fold.keys;
  const names = itemText(namesOf(fold), SHOWN_NAMES);
  const name =
    others.length === 0
      ? code(cut(key, NAME_COLUMNS))
      : trusted`**${countText(fold)}**: ${cut(names, LINE_COLUMNS)}`;
  const cells = columns.map((place) => {
    const here = fold.rows.filter(({ change }) => change.ref.environment === place);
    return joined(
      here.map(({ change }) => cell(change, report)),
      String(LINE_BREAK),
    );
  });
  return row([
    fold.risks.size > 0 ? trusted`${name} ⚠️` : name,
    ...cells,
    ...(shared === undefined ? [titlesCell([...titlesOf([fold])].filter(Boolean))] : []),
  ]);
}

function titlesCell(titles: readonly string[]): Markup {
  const more = titles.length - SHOWN_TITLES;
  const shown = titles.slice(0, SHOWN_TITLES).map((title) => trusted`${title}`);
  return joined([...shown, ...(more > 0 ? [trusted`… ${more} more`] : [])], String(LINE_BREAK));
}

function titlesOf(folds: readonly Fold[]): ReadonlySet<string> {
  return new Set(folds.flatMap(({ titles }) => [...titles].map((each) => cut(each, LINE_COLUMNS))));
}

/** By how much, as words and as bars, what else changes, and whom it reaches. */
function cell(change: Change, report: PlanReport): Markup {
  const { fact, others } = toldOf(change, report);
  const more = others.length - SHOWN_LINES;
  const impact = impactOf(report, change.id);
  const isReachTold = impact && change.action !== 'create' && change.action !== 'activate';
  const status = outcomeOf(report, change.id)?.status ?? 'applied';
  return joined(
    [
      ...(status === 'applied' ? [] : [trusted`**${status}**`]),
      trusted`**${cut(fact, LINE_COLUMNS)}**${reasonMark(change, report)}`,
      ...bars(change),
      ...others.slice(0, SHOWN_LINES).map((line) => trusted`${cut(line, LINE_COLUMNS)}`),
      ...(more > 0 ? [trusted`… ${more} more below`] : []),
      ...(isReachTold
        ? [trusted`reaches: ${cut(audienceText(change, impact, false), LINE_COLUMNS)}`]
        : []),
    ],
    String(LINE_BREAK),
  );
}

/** Why, of what the fact says. A commit is the usual reason, and a kill is said by the fact. */
function reasonMark(change: Change, report: PlanReport): Markup {
  const told = change.fields.filter((field) => fieldFact(field, change, report) !== '');
  const reasons = new Set([change.reason, ...told.map(({ reason }) => reason)]);
  const unusual = [...reasons].filter((reason) => reason !== 'commit' && reason !== 'kill');
  return unusual.length === 0 ? trusted`` : trusted` (${unusual.join(', ')})`;
}

/** What a change means: `fact` in a few words, never empty, and what no few words say. */
interface Told {
  readonly fact: string;
  readonly others: readonly string[];
}

function toldOf(change: Change, report: PlanReport): Told {
  switch (change.action) {
    case 'create':
      return { fact: newText(change, report), others: newRules(change, report) };
    case 'activate':
      return { fact: withKeys('active', change), others: [] };
    case 'deactivate':
      return { fact: withKeys('inactive', change), others: [] };
    case 'delete':
      return { fact: withKeys(change.archive ? 'archived' : 'deleted', change), others: [] };
    case 'update':
      return updateTold(change, report);
  }
}

function updateTold(change: Change, report: PlanReport): Told {
  const context = contextOf(change, report, false);
  const fact = factText(change, report);
  const [keys = 'changed'] = keysFacts(change);
  return {
    fact: fact === '' ? keys : fact,
    others: change.fields.flatMap((field) => {
      if (fieldFact(field, change, report) !== '') return [];
      const why = field.reason === change.reason ? '' : ` (${field.reason})`;
      return fieldLines(field, context).map((line) => plainText(line) + why);
    }),
  };
}

/** `new: on 5 %`, `new: killed`; of what serves nobody by itself `new`. */
function newText(change: Change, report: PlanReport): string {
  const valueOf = (path: string): unknown => {
    return change.fields.find((field) => field.path === path)?.after;
  };
  if (valueOf('/killed') === true) return `new: ${killedText(change.id, report)}`;
  const buckets = valueOf('/defaultRule');
  if (!isBuckets(buckets)) return withKeys('new', change);
  const allocation = valueOf('/trafficAllocation');
  const part =
    typeof allocation === 'number' && allocation < 100
      ? ` of ${String(allocation)} % of the traffic`
      : '';
  return `new: ${sharesText(buckets, valueOf('/defaultTreatment'))}${part}`;
}

function newRules(change: Change, report: PlanReport): string[] {
  const rules = change.fields.find(({ path }) => path === '/rules')?.after;
  return isRules(rules)
    ? wholeRuleLines(rules, contextOf(change, report, false)).map(plainText)
    : [];
}

function withKeys(word: string, change: Change): string {
  return [word, ...keysFacts(change)].join(': ');
}

/** Numbers of keys or identities; nothing where the change is about none. */
function keysFacts(change: Change): string[] {
  if (!change.keys) return [];
  switch (KIND_TEXTS[change.ref.kind].details) {
    case 'fields':
      return [keysText(change.keys, false)];
    case 'identities':
      return identityLines(change, undefined, false).map(plainText);
  }
}

function plainText(line: FieldLine): string {
  return line.map(({ text }) => text).join('');
}

/** The shift of the first share that changes, before and after; nothing where no share does. */
function bars({ action, fields }: Change): Markup[] {
  const field = fields.find(({ path }) => path === '/defaultRule');
  if (action !== 'update' || !field) return [];
  const [before, after] = [field.before, field.after];
  if (!isBuckets(before) || !isBuckets(after)) return [];
  const [share] = changedShares(before, after);
  return share ? [trusted`${bar(share.before ?? 0)} → ${bar(share.after ?? 0)}`] : [];
}

const BAR_BLOCKS = 10;

/** A share of a hundred as a bar. It is empty for 0 alone, and full for 100 alone. */
function bar(percent: Bucket['size']): Markup {
  const rounded = Math.round((percent / 100) * BAR_BLOCKS);
  const most = percent < 100 ? BAR_BLOCKS - 1 : BAR_BLOCKS;
  const full = Math.min(most, Math.max(percent > 0 ? 1 : 0, rounded));
  return code('█'.repeat(full) + '░'.repeat(BAR_BLOCKS - full));
}
