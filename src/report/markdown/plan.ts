import type { Diagnostic } from '../../model/diagnostic.js';
import { deedsText, type PlanReport, refusingFindings, shownEnvironments } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { diagnosticsText } from '../text/diagnostics.js';
import { cut, plainText } from '../text/layout.js';
import { foldLines, rowLines, summaryLine } from '../text/plan.js';
import { firstOf, plural, shortSha } from '../values.js';
import { type ChangeRow, LEFT_TITLE, type Row } from '../view/row.js';
import { countText, type Fold } from '../view/folds.js';
import { planView, type PlanView } from '../view/plan-view.js';
import { type Caveats, caveatsOf, caveatsOfChanges } from '../view/sentences.js';
import { wholeText } from '../view/verdict.js';
import {
  assembled,
  type Block,
  fencedChunks,
  rowsOf,
  code,
  joined,
  link,
  Markup,
  trusted,
} from './markup.js';
import { riskBlocks, tableBlocks } from './blocks.js';

interface MarkdownOptions {
  readonly subject?: 'merge' | 'apply';
  readonly target?: string | undefined;
  readonly planUrl?: string | undefined;
  readonly madeAt?: Date | undefined;
  /** The plan was made without the service, by comparing with the specs of the target branch. */
  readonly offline?: boolean;
  /** The most UTF-16 code units of the whole report; no forge counts more for a text. */
  readonly budget?: number;
}

/** GitHub allows 65,536 characters in a comment; the rest is for a marker and for additions of a workflow. */
const COMMENT_BUDGET = 60_000;

const NAME_COLUMNS = 100;
const GROUP_NAMES = 200;
const SUMMARY_NAMES = 5;
const CAVEAT_COLUMNS = 400;
const OPEN_FOLDS = 5;

/**
 * The plan for reviews and job summaries. Keys are counted and never named. Whatever the plan contains, the markup is
 * balanced and within the budget, and text of others cannot add markup, mention anyone, or give commands to a workflow.
 */
export function planMarkdown(report: PlanReport, options: MarkdownOptions = {}): string {
  const view = planView(report, { showKeys: false });
  const caveats = caveatsIn(report, options);
  const elsewhere = view.withheld.filter(isElsewhere);
  const held = view.withheld.filter((row) => !isElsewhere(row));
  return assembled(
    [
      { rank: 'head', markup: () => opening(report, options, view) },
      ...riskBlocks(report, view, caveats),
      ...tableBlocks(view.folds, report),
      ...view.folds.flatMap((fold, index) =>
        (fold.members ?? [fold]).map((each) => detail(each, each.isUrgent && index < OPEN_FOLDS)),
      ),
      ...titled(trusted`#### ${LEFT_TITLE}: ${view.left.length}`, view.left),
      ...titled(trusted`#### Held back: ${held.length}`, held),
      ...elsewhereBlocks(elsewhere, options),
      { rank: 'head', markup: () => footer(report, options, caveats) },
    ],
    options.budget ?? COMMENT_BUDGET,
  );
}

export function summaryOf(report: PlanReport, options: MarkdownOptions = {}): string {
  const view = planView(report, { showKeys: false });
  const caveats = caveatsIn(report, options);
  const risks = riskBlocks(report, view, caveats).map(({ markup }) => markup());
  return String(joined([opening(report, options, view), ...risks], '\n\n'));
}

function caveatsIn(report: PlanReport, { subject }: MarkdownOptions): Caveats {
  return subject === 'merge' ? caveatsOfChanges(report) : caveatsOf(report);
}

function detail(fold: Fold, isOpen: boolean): Block {
  const [key = '', ...others] = fold.keys;
  const title = others.length === 0 ? code(cut(key, NAME_COLUMNS)) : trusted`${countText(fold)}`;
  const lines = () => foldLines(fold, { shownNames: GROUP_NAMES, isWhole: true });
  return {
    rank: fold.isUrgent ? 'risky detail' : 'detail',
    markup: () => folded(title, fencedChunks([rowsOf(lines())]), isOpen),
  };
}

function folded(summary: Markup, inside: readonly Markup[], isOpen = false): Markup {
  const open = Markup.own(isOpen ? ' open' : '');
  return joined(
    [trusted`<details${open}><summary>${summary}</summary>`, ...inside, trusted`</details>`],
    '\n\n',
  );
}

function isElsewhere({ change }: ChangeRow): boolean {
  return 'why' in change && change.why === 'not-reviewed';
}

function fencedRows(rows: readonly Row[]): Markup[] {
  return fencedChunks(rows.map((row) => rowsOf(rowLines(row))));
}

function titled(title: Markup, rows: readonly Row[]): Block[] {
  return fencedRows(rows).map((chunk, index) => ({
    rank: 'held back',
    markup: () => (index === 0 ? joined([title, chunk], '\n\n') : chunk),
  }));
}

function elsewhereBlocks(others: readonly ChangeRow[], { subject }: MarkdownOptions): Block[] {
  const before = subject === 'merge' ? 'before this pull request' : 'and not in the reviewed plan';
  const title = trusted`Already different ${before}: ${plural(others.length, 'change')} (${otherNames(others)})`;
  return fencedRows(others).map((chunk, index, { length }) => ({
    rank: 'elsewhere',
    markup: () => {
      const part = length === 1 ? '' : `, part ${String(index + 1)} of ${String(length)}`;
      return folded(trusted`${title}${part}`, [chunk]);
    },
  }));
}

function otherNames(others: readonly ChangeRow[]): Markup {
  const nameOf = ({ change }: ChangeRow): Markup => code(cut(change.id, NAME_COLUMNS));
  const names = firstOf(others, SUMMARY_NAMES, nameOf, (more) => trusted`… ${more} more`);
  const drifted = others.filter(({ change }) => change.reason === 'drift').length;
  const all = joined(names, ', ');
  return drifted === 0 ? all : trusted`${all}; ${drifted} changed outside git`;
}

const HEADLINE_NAME_COLUMNS = 60;
const SHOWN_PLACES = 12;

/** The headline, and the numbers unless it is all. Changes outside of the reviewed plan are no news of a merge. */
function opening(report: PlanReport, place: MarkdownOptions, view: PlanView): Markup {
  const { plan, outcomes } = report;
  const { headline } = view;
  const refusals = refusingFindings(report).length;
  const held = plan.withheld.filter(({ why }) => why !== 'not-reviewed').length;
  const busy = plan.changes.length + held + plan.liveKills.length + refusals > 0;
  const act = place.subject === 'merge' ? 'Merging this' : 'Applying this';
  if (!busy || headline.length === 0)
    return outcomes ? trusted`### ${summaryLine(report)}` : trusted`### ✅ ${act} writes nothing`;
  const isAlarm = headline.some(({ tone }) => tone === 'alarm');
  const warning = isAlarm ? '⚠️ ' : '';
  const sign = Markup.own(refusals > 0 ? '⛔ ' : warning);
  const title = trusted`### ${sign}${cut(plainText(headline), CAVEAT_COLUMNS)}`;
  const numbers = numbersOf(report, act, held, view);
  return numbers === null ? title : joined([title, numbers], '\n\n');
}

function numbersOf(report: PlanReport, act: string, held: number, view: PlanView): Markup | null {
  const { changes } = report.plan;
  if (report.outcomes) return trusted`${summaryLine(report)}`;
  if (report.guardFindings?.length) {
    return view.guards.sent === 'nothing'
      ? trusted`Nothing would be sent.`
      : trusted`Nothing but kills would be sent.`;
  }
  if (changes.length + held <= 1) return null;
  const back =
    held === 0 ? trusted`` : trusted`; ${plural(held, 'change is', 'changes are')} held back`;
  if (changes.length === 0) return trusted`${act} writes nothing${back}.`;
  const deeds = deedsText(changes, (deed, count) => (count > 0 ? `${deed}s ${String(count)}` : ''));
  return trusted`${act} ${deeds} in ${environmentsText(report, [...shownEnvironments(report), null])}${back}.`;
}

function footer(report: PlanReport, place: MarkdownOptions, { limits }: Caveats): Markup {
  return joined(
    [
      nextStepsText(report, place),
      ...limits.map((text) => trusted`${cut(clean(text), CAVEAT_COLUMNS)}`),
      trusted`<sub>${joined(facts(report, place), ' · ')}</sub>`,
    ],
    '\n\n',
  );
}

function nextStepsText(report: PlanReport, { subject, target, offline }: MarkdownOptions): Markup {
  if (report.outcomes) return trusted`${wholeText(report)}.`;
  if (offline === true) {
    return trusted`Made offline, without the service: compared with the specs of ${targetText(target)}. What is live may differ.`;
  }
  const { steps, changes } = report.plan;
  if (changes.length === 0) return trusted`Nothing is written when this is applied.`;
  const when =
    subject === 'merge'
      ? trusted`After the merge into ${targetText(target)} an apply`
      : trusted`An apply`;
  return trusted`${when} sends ${plural(steps.length, 'request')} to ${code(report.origin)}, in the order ${environmentsText(report, [null, ...report.environments], ' → ')}.`;
}

function targetText(target: string | undefined): Markup {
  return target === undefined
    ? trusted`the target branch`
    : code(cut(target, HEADLINE_NAME_COLUMNS));
}

function facts(report: PlanReport, { planUrl, madeAt }: MarkdownOptions): Markup[] {
  const { commit, dirty } = report.revision;
  return [
    trusted`plan ${code(report.planHash)}`,
    commit === null ? trusted`no commit` : trusted`commit ${code(shortSha(commit))}`,
    ...(dirty ? [trusted`with local changes`] : []),
    trusted`workspace ${code(cut(report.workspace.name, HEADLINE_NAME_COLUMNS))}`,
    ...(madeAt
      ? [Markup.own(`made ${madeAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`)]
      : []),
    trusted`${report.plan.unchanged.length} unchanged`,
    ...(planUrl === undefined ? [] : [link('full plan', planUrl)]),
  ];
}

function environmentsText(
  { plan }: PlanReport,
  places: readonly (string | null)[],
  separator = ', ',
): Markup {
  const touched = new Set(plan.changes.map(({ ref }) => ref.environment));
  const inOrder = places.filter((each) => touched.has(each));
  const nameOf = (each: string | null): Markup =>
    each === null ? trusted`the workspace` : code(cut(each, HEADLINE_NAME_COLUMNS));
  const names = firstOf(inOrder, SHOWN_PLACES, nameOf, (more) => trusted`${more} more`);
  return joined(names, separator);
}

const MESSAGE_COLUMNS = 1_000;

export function failureMarkdown(message: string, diagnostics: readonly Diagnostic[] = []): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const title =
    errors > 0
      ? trusted`### ⛔ The specs are invalid: ${plural(errors, 'error')}`
      : trusted`### ⛔ No plan`;
  const why = trusted`Why: ${cut(clean(message), MESSAGE_COLUMNS)}`;
  const problems = fencedChunks(diagnostics.map((each) => [...problemRows(each), '']));
  return assembled(
    [
      { rank: 'head', markup: () => joined([title, why], '\n\n') },
      ...problems.map((markup): Block => ({ rank: 'problem', markup: () => markup })),
    ],
    COMMENT_BUDGET,
  );
}

/** The first row begins with our own mark, because text of others at the beginning of a row could imitate one. */
function problemRows(diagnostic: Diagnostic): string[] {
  const text = diagnosticsText([diagnostic], { color: false });
  // The last two rows are totals.
  const [head = '', ...excerpt] = text.trimEnd().split('\n').slice(0, -2);
  return [`${diagnostic.severity === 'error' ? '-' : '!'} ${head}`, ...excerpt];
}
