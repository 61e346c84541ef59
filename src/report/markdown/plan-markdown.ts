import type { Change } from '../../model/plan.js';
import { changeLines, withheldLines } from '../change-lines.js';
import { impactOf, reachWords } from '../impact-lines.js';
import type { PlanReport } from '../plan-report.js';
import { changesByPlace } from '../plan-text.js';
import { cut } from '../text-width.js';
import { plural } from '../value-words.js';
import { assembled, type Block, type Rank } from './blocks.js';
import { foot, verdict, type ReportPlace } from './frame.js';
import { code, joined, Markup, ours } from './markup.js';
import { riskBlocks } from './risks.js';
import { fencedChunks, rowsOf } from './rows.js';

export interface MarkdownOptions extends ReportPlace {
  /** UTF-16 code units that the whole may have; no forge counts more than these. */
  readonly budget?: number;
}

/** GitHub takes 65,536 characters in a comment; room is left for a marker and for what a workflow adds. */
export const COMMENT_BUDGET = 60_000;

const NAME_COLUMNS = 100;
const CELL_COLUMNS = 160;
/** A table of more than this goes on in the next one, so that a budget can end between them. */
const TABLE_SIZE = 8_000;

/**
 * The plan as Markdown, for reviews and job summaries: a verdict, then risks, never folded nor cut; a table for each
 * environment; details folded. Keys are counted, never named. Balanced and within the budget whatever the plan holds,
 * and text of others is shown as text: no markup, no mention, no command to a workflow.
 */
export function planMarkdown(report: PlanReport, options: MarkdownOptions = {}): string {
  return assembled(
    [
      { rank: 'head', what: 'verdict', markup: () => verdict(report, options) },
      ...riskBlocks(report),
      ...[...changesByPlace(report)].flatMap(([place, changes]) =>
        placeBlocks(place, changes, report),
      ),
      ...heldBackBlocks(report),
      ...elsewhereBlocks(report, options),
      { rank: 'head', what: 'footer', markup: () => foot(report, options) },
    ],
    options.budget ?? COMMENT_BUDGET,
  );
}

/** The verdict and the risks alone: what of a report counts most, and changes least. */
export function gistOf(report: PlanReport, options: MarkdownOptions = {}): string {
  const risks = riskBlocks(report).map(({ markup }) => markup());
  return String(joined([verdict(report, options), ...risks], '\n\n'));
}

function placeBlocks(place: string, changes: readonly Change[], report: PlanReport): Block[] {
  if (changes.length === 0) return [];
  const title = ours`#### ${cut(place, NAME_COLUMNS)}: ${plural(changes.length, 'change')}`;
  const [first, ...more] = tables(changes.map((change) => tableRow(change, report)));
  return [
    { rank: 'table', what: 'table', markup: () => joined([title, first ?? ours``], '\n\n') },
    ...more.map((markup): Block => ({ rank: 'table', what: 'table', markup: () => markup })),
    ...changes.map((change) => detail(change, report)),
  ];
}

const TABLE_HEAD = Markup.own('| object | becomes | reaches | commit |\n| --- | --- | --- | --- |');

function tables(rows: readonly Markup[]): Markup[] {
  const parts: { rows: Markup[]; size: number }[] = [];
  for (const row of rows) {
    const last = parts.at(-1);
    if (last && last.size + row.length < TABLE_SIZE) {
      last.rows.push(row);
      last.size += row.length;
    } else parts.push({ rows: [row], size: row.length });
  }
  return parts.map((part) => joined([TABLE_HEAD, ...part.rows], '\n'));
}

function tableRow(change: Change, report: PlanReport): Markup {
  const { kind, name } = change.ref;
  const impact = impactOf(report, change.id);
  const warning = impact && impact.risks.length > 0 ? Markup.own(' ⚠️') : ours``;
  const reach = impact ? cut(reachWords(change, impact, false), CELL_COLUMNS) : '';
  const title = cut(report.words.get(change.id)?.title ?? '', CELL_COLUMNS);
  const object = code(cut(`${kind}/${name}`, NAME_COLUMNS));
  return ours`| ${object}${warning} | ${becomes(change)} | ${reach} | ${title} |`;
}

const BECOMES: Readonly<Record<Change['action'], string>> = {
  create: 'new',
  activate: 'active',
  update: 'changed',
  delete: 'deleted',
  deactivate: 'inactive',
};

function becomes({ action, reason, keys }: Change): Markup {
  const counts = keys ? ours`, +${keys.added.length} −${keys.removed.length} keys` : ours``;
  const why = reason === 'commit' ? ours`` : ours` (${reason})`;
  const word = BECOMES[action];
  return action === 'delete' || action === 'deactivate'
    ? ours`**${word}**${counts}${why}`
    : ours`${word}${counts}${why}`;
}

/** What differs, field by field, folded. */
function detail(change: Change, report: PlanReport): Block {
  const isRisky = (impactOf(report, change.id)?.risks.length ?? 0) > 0;
  const rows = (): string[] => rowsOf(changeLines(change, report, false));
  return {
    rank: isRisky ? 'risky detail' : 'detail',
    what: 'detail',
    markup: () => folded(code(cut(change.id, NAME_COLUMNS)), fencedChunks([rows()])),
  };
}

function folded(summary: Markup, inside: readonly Markup[]): Markup {
  return joined(
    [ours`<details><summary>${summary}</summary>`, ...inside, ours`</details>`],
    '\n\n',
  );
}

/** What will not be written though it differs, for another reason than that nobody asked for it here. */
function heldBackBlocks(report: PlanReport): Block[] {
  const held = report.plan.withheld.filter(({ why }) => why !== 'not-reviewed');
  const rows = held.map((each) => rowsOf(withheldLines(each, report, false)));
  return titled(ours`#### Held back: ${held.length}`, fencedChunks(rows), 'held back');
}

function titled(title: Markup, chunks: readonly Markup[], rank: Rank): Block[] {
  return chunks.map((chunk, index) => ({
    rank,
    what: 'list of what is held back',
    markup: () => (index === 0 ? joined([title, chunk], '\n\n') : chunk),
  }));
}

function elsewhereBlocks(report: PlanReport, { subject }: ReportPlace): Block[] {
  const others = report.plan.withheld.filter(({ why }) => why === 'not-reviewed');
  const rows = others.map((each) => rowsOf(withheldLines(each, report, false)));
  const before = subject === 'merge' ? 'before this pull request' : 'and not in the reviewed plan';
  return fencedChunks(rows).map((chunk, index, { length }) => ({
    rank: 'elsewhere',
    what: 'list of what was different already',
    markup: () =>
      folded(
        ours`Already different ${before}: ${plural(others.length, 'change')}${partOf(index, length)}`,
        [chunk],
      ),
  }));
}

function partOf(index: number, length: number): string {
  return length === 1 ? '' : `, part ${String(index + 1)} of ${String(length)}`;
}
