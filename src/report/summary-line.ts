import {
  COUNTED_AS,
  countActions,
  outcomeOf,
  type ActionCounts,
  type PlanReport,
} from './plan-report.js';
import { plural } from './value-words.js';

/** The last line of a report: what is to be done, or what was done and how the service stands now. */
export function summaryLine(report: PlanReport): string {
  const { plan } = report;
  if (plan.changes.length === 0 && plan.withheld.length === 0 && report.converged !== false) {
    return `In sync: ${plural(plan.unchanged.length, 'object')} equal, nothing to write.`;
  }
  return report.outcomes ? appliedLine(report) : plannedLine(report);
}

function plannedLine({ plan }: PlanReport): string {
  const counts = countActions(plan.changes);
  const actions = [
    `${String(counts.create)} to create`,
    `${String(counts.update)} to update`,
    `${String(counts.delete)} to delete`,
    plural(plan.steps.length, 'request'),
  ].join(', ');
  return `Plan: ${[actions, ...restCounts(plan)].join('; ')}.`;
}

function appliedLine(report: PlanReport): string {
  const { plan } = report;
  const { applied, failed, skipped } = outcomeCounts(report);
  const actions = [
    `${String(applied.create)} created`,
    `${String(applied.update)} updated`,
    `${String(applied.delete)} deleted`,
  ].join(', ');
  const undone = [
    ...(failed > 0 ? [`${String(failed)} failed`] : []),
    ...(skipped > 0 ? [`${String(skipped)} skipped`] : []),
  ].join(', ');
  const parts = [actions, ...(undone === '' ? [] : [undone]), ...restCounts(plan)];
  return `Applied: ${parts.join('; ')}.${standing(report)}`;
}

function outcomeCounts(report: PlanReport): {
  applied: ActionCounts;
  failed: number;
  skipped: number;
} {
  const applied = { create: 0, update: 0, delete: 0 };
  const others = { failed: 0, skipped: 0 };
  for (const { id, action } of report.plan.changes) {
    const status = outcomeOf(report, id)?.status ?? 'skipped';
    if (status === 'applied') applied[COUNTED_AS[action]] += 1;
    else others[status] += 1;
  }
  return { applied, ...others };
}

/** What the second look found; nothing where none was taken. */
function standing({ converged, plan }: PlanReport): string {
  if (converged === undefined) return '';
  if (!converged) return ' Not in sync: differences are left after the apply.';
  return plan.withheld.length > 0 ? ' In sync but for what is withheld.' : ' In sync.';
}

function restCounts(plan: PlanReport['plan']): string[] {
  return [
    `${String(plan.unchanged.length)} unchanged`,
    ...(plan.withheld.length > 0 ? [`${String(plan.withheld.length)} withheld`] : []),
  ];
}
