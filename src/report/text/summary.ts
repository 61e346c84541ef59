import { messageOf } from '../../errors.js';
import { clean } from '../sanitize.js';
import type { KillResult, Outcome } from '../../model/outcome.js';
import type { Change } from '../../model/plan.js';
import { deedsText, outcomeOf, type PlanReport } from '../plan-report.js';
import { risksLine } from '../view/impact.js';
import { isConverged } from '../../model/verdict.js';
import { wholeText } from '../view/verdict.js';
import { byEnvironment, shownEnvironments } from '../view/weight.js';
import { plural } from '../values.js';

/** One line about a kill that was sent, or that failed. */
export function killLine(id: string, result: KillResult): string {
  switch (result.status) {
    case 'killed':
      return `killed ${clean(id)}: ${clean(result.note.title)}`;
    case 'absent':
      return `warning: nothing to kill: ${clean(id)} has no definition`;
    case 'failed':
      return `error: ${clean(id)} is not killed: ${clean(messageOf(result.error))}`;
  }
}

/** The last line of a report: the work ahead, or the work done and the state of the service now. */
export function summaryLine(report: PlanReport): string {
  const { plan } = report;
  if (plan.changes.length + plan.withheld.length === 0 && isConverged(report.verdict)) {
    return `${wholeText(report)}, nothing to write${where(report)}.`;
  }
  return report.outcomes ? appliedLine(report) : plannedLine(report);
}

/** The words for the workspace and the service, to append to a sentence. */
function where({ workspace, origin }: PlanReport): string {
  return ` in workspace ${clean(workspace.name)} at ${clean(origin)}`;
}

/** Numbers of the planned changes, and the risks, the largest first. */
function plannedLine(report: PlanReport): string {
  const { plan } = report;
  const risks = risksLine(report);
  const actions = [
    deedsText(plan.changes, (deed, count) => `${String(count)} to ${deed}`),
    plural(plan.steps.length, 'request'),
  ].join(', ');
  const parts = [
    actions,
    ...restCounts(plan, withheldNames(report)),
    ...(report.guardFindings?.length ? ['refused by a guard'] : []),
    ...(risks === '' ? [] : [risks]),
  ];
  return `Plan: ${parts.join('; ')}.`;
}

/** Numbers of the changes made, and the state of the service now. */
function appliedLine(report: PlanReport): string {
  const { plan } = report;
  const ended = (status: Outcome['status']): readonly Change[] =>
    plan.changes.filter(({ id }) => outcomeOf(report, id)?.status === status);
  const actions = deedsText(ended('applied'), (deed, count) => `${String(count)} ${deed}d`);
  const undone = (['failed', 'skipped'] as const)
    .filter((status) => ended(status).length > 0)
    .map((status) => `${String(ended(status).length)} ${status}`)
    .join(', ');
  const parts = [actions, ...(undone === '' ? [] : [undone]), ...restCounts(plan)];
  const whole = report.converged === undefined ? '' : ` ${wholeText(report)}.`;
  return `Applied: ${parts.join('; ')}.${whole}`;
}

/** A line names this many withheld objects. */
const SHOWN_WITHHELD = 3;

/** The first withheld objects, the most protected first: ` (flag/legacy@production, … 2 more)`. */
function withheldNames(report: PlanReport): string {
  const { withheld } = report.plan;
  const ids = byEnvironment(withheld, shownEnvironments(report)).map(({ id }) => clean(id));
  const names = [...new Set(ids)];
  const more = names.length - SHOWN_WITHHELD;
  const rest = more > 0 ? [`… ${String(more)} more`] : [];
  return ` (${[...names.slice(0, SHOWN_WITHHELD), ...rest].join(', ')})`;
}

/** Counts of the objects that the run does not act on. */
function restCounts(plan: PlanReport['plan'], names = ''): string[] {
  return [
    `${String(plan.unchanged.length)} unchanged`,
    ...(plan.withheld.length > 0 ? [`${String(plan.withheld.length)} withheld${names}`] : []),
  ];
}
