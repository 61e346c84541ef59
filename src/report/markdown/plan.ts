import { deedsText, type PlanReport } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { cut } from '../text/layout.js';
import { foldLines, rowLines } from '../text/rows.js';
import { summaryLine } from '../text/summary.js';
import { plural } from '../values.js';
import { LEFT_TITLE } from '../view/left.js';
import { countText, planView, type Fold, type PlanView } from '../view/plan-view.js';
import { caveatsOf } from '../view/sentences.js';
import type { ChangeRow } from '../view/row.js';
import { assembled, type Block, type Rank } from './blocks.js';
import { code, joined, Markup, trusted, link } from './markup.js';
import { riskBlocks, risksText } from './risks.js';
import { fencedChunks, rowsOf } from './rows.js';
import { tableBlocks } from './table.js';

/** How long the report may be, and where it is shown. */
export interface MarkdownOptions extends ReportContext {
  /** UTF-16 code units that the whole may have; no forge counts more than these. */
  readonly budget?: number;
}

/** GitHub takes 65,536 characters in a comment; room is left for a marker and for what a workflow adds. */
export const COMMENT_BUDGET = 60_000;

const NAME_COLUMNS = 100;
/** The objects of a group that its details name; the others are counted. */
const GROUP_NAMES = 200;
/** The objects that a summary names; the others are counted. */
const SUMMARY_NAMES = 5;
const CAVEAT_COLUMNS = 400;

/**
 * The plan as Markdown, for reviews and job summaries: a verdict; risks, which are never folded nor
 * cut; one table of objects and environments; folded details. Keys are counted and never named.
 *
 * The text is balanced and within the budget whatever the plan holds. Text of others is shown as
 * text: it makes no markup, no mention, and no command to a workflow.
 */
export function planMarkdown(report: PlanReport, options: MarkdownOptions = {}): string {
  const view = planView(report, { showKeys: false });
  return assembled(
    [
      { rank: 'head', what: 'verdict', markup: () => headline(report, options) },
      ...riskBlocks(report),
      ...tableBlocks(view.folds, report),
      ...view.folds.map(detail),
      ...leftBlocks(view),
      ...withheldBlocks(view),
      ...otherWorkspaceBlocks(view, options),
      { rank: 'head', what: 'footer', markup: () => footer(report, options) },
    ],
    options.budget ?? COMMENT_BUDGET,
  );
}

/** The verdict and the risks alone: the part that matters most and changes least. */
export function summaryOf(report: PlanReport, options: MarkdownOptions = {}): string {
  const risks = riskBlocks(report).map(({ markup }) => markup());
  return String(joined([headline(report, options), ...risks], '\n\n'));
}

/** One object, or several to which the same happens, field by field, folded. */
function detail(fold: Fold): Block {
  const [key = '', ...others] = fold.keys;
  const title = others.length === 0 ? code(cut(key, NAME_COLUMNS)) : trusted`${countText(fold)}`;
  return {
    rank: fold.isUrgent ? 'risky detail' : 'detail',
    what: 'detail',
    markup: () =>
      folded(title, fencedChunks([rowsOf(foldLines(fold, { shownNames: GROUP_NAMES }))])),
  };
}

function folded(summary: Markup, inside: readonly Markup[]): Markup {
  return joined(
    [trusted`<details><summary>${summary}</summary>`, ...inside, trusted`</details>`],
    '\n\n',
  );
}

/** Changes that are held back, but for those that `otherWorkspaceBlocks` lists. */
function withheldBlocks({ withheld }: PlanView): Block[] {
  const held = withheld.filter((row) => !isElsewhere(row));
  const rows = held.map((row) => rowsOf(rowLines(row)));
  return titled(trusted`#### Held back: ${held.length}`, fencedChunks(rows), 'held back');
}

function isElsewhere({ change }: ChangeRow): boolean {
  return 'why' in change && change.why === 'not-reviewed';
}

/** What a second look found, each with what was wanted and what was found. */
function leftBlocks({ left }: PlanView): Block[] {
  const rows = left.map((row) => rowsOf(rowLines(row)));
  return titled(trusted`#### ${LEFT_TITLE}: ${left.length}`, fencedChunks(rows), 'held back');
}

/** Blocks of one list, with the title above the first. */
function titled(title: Markup, chunks: readonly Markup[], rank: Rank): Block[] {
  return chunks.map((chunk, index) => ({
    rank,
    what: 'list of what is held back',
    markup: () => (index === 0 ? joined([title, chunk], '\n\n') : chunk),
  }));
}

/** Differences that were there before and are not this change's doing, folded at the end. */
function otherWorkspaceBlocks({ withheld }: PlanView, { subject }: ReportContext): Block[] {
  const others = withheld.filter(isElsewhere);
  const rows = others.map((row) => rowsOf(rowLines(row)));
  const before = subject === 'merge' ? 'before this pull request' : 'and not in the reviewed plan';
  const title = trusted`Already different ${before}: ${plural(others.length, 'change')} (${otherNames(others)})`;
  return fencedChunks(rows).map((chunk, index, { length }) => ({
    rank: 'elsewhere',
    what: 'list of what was different already',
    markup: () => folded(trusted`${title}${partOf(index, length)}`, [chunk]),
  }));
}

/** The first of them by name, and how many of all were changed outside git. */
function otherNames(others: readonly ChangeRow[]): Markup {
  const names = others
    .slice(0, SUMMARY_NAMES)
    .map(({ change }) => code(cut(change.id, NAME_COLUMNS)));
  const more = others.length - names.length;
  const drifted = others.filter(({ change }) => change.reason === 'drift').length;
  const all = joined([...names, ...(more > 0 ? [trusted`… ${more} more`] : [])], ', ');
  return drifted === 0 ? all : trusted`${all}; ${drifted} changed outside git`;
}

function partOf(index: number, length: number): string {
  return length === 1 ? '' : `, part ${String(index + 1)} of ${String(length)}`;
}

/** Where a report is shown and what it is about. All members are absent for a plan by itself. */
interface ReportContext {
  /** What lets the plan happen; default: `apply`. */
  readonly subject?: 'merge' | 'apply';
  /** The branch that it would be merged into. */
  readonly target?: string | undefined;
  /** The address of the full plan. */
  readonly planUrl?: string | undefined;
  /** When the service was looked at. */
  readonly madeAt?: Date | undefined;
  /** The plan was made without the service: it compares with the specs of the target branch. */
  readonly offline?: boolean;
}

/** Names in the headline and the footer are cut shorter than those of the tables. */
const HEADLINE_NAME_COLUMNS = 60;
/** Characters of a commit's hash that people are shown. */
const SHORT_SHA = 7;
const SHOWN_PLACES = 12;

/**
 * The first sentences: what is risky, and what happens or that nothing does. A plan that a guard refuses has no other
 * first sentence.
 */
function headline(report: PlanReport, place: ReportContext): Markup {
  const { plan } = report;
  if (report.outcomes) return trusted`### ${summaryLine(report)}`;
  const act = place.subject === 'merge' ? 'Merging this' : 'Applying this';
  if (report.guardFindings?.length)
    return trusted`### ⛔ A guard refuses this: nothing would be sent`;
  const held = plan.withheld.filter(({ why }) => why !== 'not-reviewed').length;
  const back =
    held === 0 ? trusted`` : trusted`; ${plural(held, 'change is', 'changes are')} held back`;
  if (plan.changes.length === 0) return trusted`### ✅ ${act} writes nothing${back}`;
  const deeds = deedsText(plan.changes, (deed, count) =>
    count > 0 ? `${deed}s ${String(count)}` : '',
  );
  const all = trusted`${act} ${deeds} in ${environmentsText(report)}${back}`;
  const risks = risksText(report);
  return risks === null ? trusted`### ${all}` : trusted`### ⚠️ ${risks}\n\n${all}.`;
}

/**
 * What a merge or an apply does next, and the facts that identify this report.
 */
function footer(report: PlanReport, place: ReportContext): Markup {
  return joined(
    [
      nextStepsText(report, place),
      ...caveatsOf(report).limits.map((text) => trusted`${cut(clean(text), CAVEAT_COLUMNS)}`),
      trusted`<sub>${joined(facts(report, place), ' · ')}</sub>`,
    ],
    '\n\n',
  );
}

/** What happens after this report. */
function nextStepsText(report: PlanReport, { subject, target, offline }: ReportContext): Markup {
  if (report.outcomes) return trusted`${report.converged === true ? 'Verified.' : 'Not in sync.'}`;
  if (offline === true) {
    return trusted`Made offline, without the service: compared with the specs of ${targetText(target)}. What is live may differ.`;
  }
  const { steps, changes } = report.plan;
  if (changes.length === 0) return trusted`Nothing is written when this is applied.`;
  const when =
    subject === 'merge'
      ? trusted`After the merge into ${targetText(target)} an apply`
      : trusted`An apply`;
  return trusted`${when} sends ${plural(steps.length, 'request')} to ${code(report.origin)}, in the order ${environmentsText(report, ' → ')}. With \`--plan-hash\` it refuses any other plan.`;
}

function targetText(target: string | undefined): Markup {
  return target === undefined
    ? trusted`the target branch`
    : code(cut(target, HEADLINE_NAME_COLUMNS));
}

/** Hash, commit, workspace and time of the plan. */
function facts(report: PlanReport, { planUrl, madeAt }: ReportContext): Markup[] {
  const { commit, dirty } = report.revision;
  return [
    trusted`plan ${code(report.planHash)}`,
    commit === null ? trusted`no commit` : trusted`commit ${code(commit.slice(0, SHORT_SHA))}`,
    ...(dirty ? [trusted`with local changes`] : []),
    trusted`workspace ${code(cut(report.workspace.name, HEADLINE_NAME_COLUMNS))}`,
    ...(madeAt
      ? [Markup.own(`made ${madeAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`)]
      : []),
    trusted`${report.plan.unchanged.length} unchanged`,
    ...(planUrl === undefined ? [] : [link('full plan', planUrl)]),
  ];
}

/** The places that change, in the order of application; places beyond a bound are counted. */
function environmentsText({ plan, environments }: PlanReport, separator = ', '): Markup {
  const touched = new Set(plan.changes.map(({ ref }) => ref.environment));
  const inOrder = [null, ...environments].filter((each) => touched.has(each));
  const names = inOrder
    .slice(0, SHOWN_PLACES)
    .map((each) =>
      each === null ? trusted`the workspace` : code(cut(each, HEADLINE_NAME_COLUMNS)),
    );
  const more = inOrder.length - names.length;
  return joined([...names, ...(more > 0 ? [trusted`${more} more`] : [])], separator);
}
