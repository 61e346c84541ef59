import { messageOf } from '../../errors.js';
import { clean } from '../sanitize.js';
import type { KillResult, Outcome } from '../../model/outcome.js';
import { type Change, unfinishedIn, type Unfinished } from '../../model/plan.js';
import { deedsText, outcomeOf, type PlanReport } from '../plan-report.js';
import type { ObjectId } from '../../model/ref.js';
import { risksOf } from '../view/impact.js';
import { butForKills } from '../view/sentences.js';
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
  if (plan.changes.length === 0 && plan.withheld.length === 0 && report.converged !== false) {
    return `In sync${asFarAsCompared(plan)}${butForKills(plan.liveKills)}: ${plural(plan.unchanged.length, 'object')} equal, nothing to write${where(report)}.`;
  }
  return report.outcomes ? appliedLine(report) : plannedLine(report);
}

/** The words for the workspace and the service, to append to a sentence. */
function where({ workspace, origin }: PlanReport): string {
  return ` in workspace ${clean(workspace.name)} at ${clean(origin)}`;
}

/** Numbers of the planned changes, and of the risks that are marked `!!` above. */
function plannedLine(report: PlanReport): string {
  const { plan } = report;
  const risks = plan.changes.flatMap((change) => risksOf(change, report)).length;
  const actions = [
    deedsText(plan.changes, (deed, count) => `${String(count)} to ${deed}`),
    plural(plan.steps.length, 'request'),
  ].join(', ');
  const parts = [
    actions,
    ...restCounts(plan),
    ...(risks > 0 ? [plural(risks, 'risk')] : []),
    ...(report.guardFindings?.length ? ['refused by a guard'] : []),
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
  return `Applied: ${parts.join('; ')}.${standing(report)}`;
}

/** The result of the second look; empty if there was none. */
function standing({ converged, standing: found, plan, outcomes }: PlanReport): string {
  if (converged === undefined) return '';
  if (outcomes && (found === 'held' || found === 'waits')) {
    return ` Not in sync: ${unfinishedText(unfinishedIn(plan, outcomes))}.`;
  }
  if (!converged) return ' Not in sync: differences are left after the apply.';
  const exceptions = [
    ...(plan.withheld.length > 0 ? ['what is withheld'] : []),
    ...(plan.liveKills.length > 0 ? [plural(plan.liveKills.length, 'live kill')] : []),
  ];
  const but = exceptions.length > 0 ? ` but for ${exceptions.join(' and ')}` : '';
  return ` In sync${asFarAsCompared(plan)}${but}.`;
}

/** The changes that git orders and the service does not have yet, and what they wait for. */
function unfinishedText({ held, waits, until }: Unfinished): string {
  const end = until === null ? 'for a window to open' : `until ${clean(until)}`;
  return [
    ...(held.length > 0 ? [`${waiting(held)} for a person`] : []),
    ...(waits.length > 0 ? [`${waiting(waits)} ${end}`] : []),
  ].join('; ');
}

/** A line names this many objects; all of them are listed above it. */
const MAX_NAMED = 3;

function waiting(ids: readonly ObjectId[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${String(ids.length - MAX_NAMED)} more` : '';
  const verb = ids.length === 1 ? 'waits' : 'wait';
  return `${ids.slice(0, MAX_NAMED).map(clean).join(', ')}${more} ${verb}`;
}

/** The words to append to "all is equal" if not everything was compared. */
export function asFarAsCompared({ notCompared }: Pick<PlanReport['plan'], 'notCompared'>): string {
  return notCompared.length === 0 ? '' : ' as far as was compared';
}

/** Counts of the objects that the run does not act on. */
function restCounts(plan: PlanReport['plan']): string[] {
  return [
    `${String(plan.unchanged.length)} unchanged`,
    ...(plan.withheld.length > 0 ? [`${String(plan.withheld.length)} withheld`] : []),
  ];
}
