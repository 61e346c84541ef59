import { countActions, type PlanReport } from '../plan-report.js';
import { summaryLine } from '../summary-line.js';
import { cut } from '../text-width.js';
import { plural } from '../value-words.js';
import { code, joined, link, Markup, ours } from './markup.js';
import { countRisks } from './risks.js';

/** Where a report stands and what it is about; absent: a plan by itself. */
export interface ReportPlace {
  /** What lets the plan happen; default: `apply`. */
  readonly subject?: 'merge' | 'apply';
  /** The branch that it would be merged into. */
  readonly target?: string | undefined;
  /** Where the full plan is to be found. */
  readonly planUrl?: string | undefined;
  /** When the service was looked at. */
  readonly madeAt?: Date | undefined;
  /** The service was not asked: the plan compares with the specs of the target. */
  readonly offline?: boolean;
}

const NAME_COLUMNS = 60;
const SHORT_SHA = 7;
const SHOWN_PLACES = 12;

/** The first sentence: what happens, or that nothing does. */
export function verdict(report: PlanReport, place: ReportPlace): Markup {
  const { plan } = report;
  if (report.outcomes) return ours`### ${summaryLine(report)}`;
  const act = place.subject === 'merge' ? 'Merging this' : 'Applying this';
  if (report.guardFindings?.length) return ours`### ⛔ A guard refuses this: nothing would be sent`;
  const held = plan.withheld.filter(({ why }) => why !== 'not-reviewed').length;
  const back = held === 0 ? ours`` : ours`; ${plural(held, 'change is', 'changes are')} held back`;
  if (plan.changes.length === 0) return ours`### ✅ ${act} writes nothing${back}`;
  const counts = countActions(plan.changes);
  const deeds = [
    ...(counts.create > 0 ? [`creates ${String(counts.create)}`] : []),
    ...(counts.update > 0 ? [`updates ${String(counts.update)}`] : []),
    ...(counts.delete > 0 ? [`deletes ${String(counts.delete)}`] : []),
  ].join(', ');
  const risks = countRisks(report);
  const mark = risks > 0 ? ours`⚠️ ` : ours``;
  const warning = risks > 0 ? ours`, with ${plural(risks, 'risk')} to look at` : ours``;
  return ours`### ${mark}${act} ${deeds} in ${placesWords(report)}${warning}${back}`;
}

/** What a merge does, and what this report is of. */
export function foot(report: PlanReport, place: ReportPlace): Markup {
  return joined(
    [nextWords(report, place), ours`<sub>${joined(facts(report, place), ' · ')}</sub>`],
    '\n\n',
  );
}

function nextWords(report: PlanReport, { subject, target, offline }: ReportPlace): Markup {
  if (report.outcomes) return ours`${report.converged === true ? 'Verified.' : 'Not in sync.'}`;
  if (offline === true) {
    return ours`Made offline, without the service: compared with the specs of ${targetWords(target)}. What is live may differ.`;
  }
  const { steps, changes } = report.plan;
  if (changes.length === 0) return ours`Nothing is written when this is applied.`;
  const when =
    subject === 'merge'
      ? ours`After the merge into ${targetWords(target)} an apply`
      : ours`An apply`;
  return ours`${when} sends ${plural(steps.length, 'request')} to ${code(report.origin)}, in the order ${placesWords(report, ' → ')}. With \`--plan-hash\` it refuses any other plan.`;
}

function targetWords(target: string | undefined): Markup {
  return target === undefined ? ours`the target branch` : code(cut(target, NAME_COLUMNS));
}

function facts(report: PlanReport, { planUrl, madeAt }: ReportPlace): Markup[] {
  const { commit, dirty } = report.revision;
  return [
    ours`plan ${code(report.planHash)}`,
    commit === null ? ours`no commit` : ours`commit ${code(commit.slice(0, SHORT_SHA))}`,
    ...(dirty ? [ours`with local changes`] : []),
    ours`workspace ${code(cut(report.workspace.name, NAME_COLUMNS))}`,
    ...(madeAt
      ? [Markup.own(`made ${madeAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`)]
      : []),
    ours`${report.plan.unchanged.length} unchanged`,
    ...(planUrl === undefined ? [] : [link('full plan', planUrl)]),
  ];
}

/** The places that change, in the order of application. */
function placesWords({ plan, environments }: PlanReport, separator = ', '): Markup {
  const touched = new Set(plan.changes.map(({ ref }) => ref.environment));
  const inOrder = [null, ...environments].filter((each) => touched.has(each));
  const names = inOrder
    .slice(0, SHOWN_PLACES)
    .map((each) => (each === null ? ours`the workspace` : code(cut(each, NAME_COLUMNS))));
  const more = inOrder.length - names.length;
  return joined([...names, ...(more > 0 ? [ours`${more} more`] : [])], separator);
}
