import { deedOf, outcomeOf, type PlanReport } from '../plan-report.js';
import { refOfId } from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import { risksOf, sizeOf } from './impact.js';

/**
 * Environments for people, the protected ones first, and within each group the one that is applied last.
 *
 * @param environments in the order of application.
 */
export function mostProtectedFirst(
  environments: readonly { readonly name: string; readonly protected?: boolean }[],
): string[] {
  const latest = environments.toReversed();
  return latest
    .toSorted((a, b) => Number(b.protected ?? false) - Number(a.protected ?? false))
    .map(({ name }) => name);
}

/** All environments of a report, the most protected first; environments without an order come at the end. */
export function shownEnvironments(report: PlanReport): string[] {
  const { environments, protectedEnvironments = new Set() } = report;
  const known = environments.map((name) => ({ name, protected: protectedEnvironments.has(name) }));
  const others = report.plan.changes.flatMap(({ ref }) => ref.environment ?? []);
  return [...new Set([...mostProtectedFirst(known), ...others.toSorted()])];
}

/** Objects in the order of `places`; those outside of all of them come last. */
export function byEnvironment<T extends { readonly id: string }>(
  items: readonly T[],
  places: readonly string[],
): T[] {
  const placeOf = ({ id }: T): number => {
    const place = places.indexOf(refOfId(id)?.environment ?? '');
    return place === -1 ? places.length : place;
  };
  return items.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/**
 * The weight of a change for a reader, as numbers to compare one after the other: failures, risks by their size,
 * removals, protected environments, and changes of what exists.
 */
export function weightOf(change: Change, report: PlanReport): readonly number[] {
  const { environment } = change.ref;
  const isRisky = risksOf(change, report).length > 0;
  const isProtected =
    environment !== null && report.protectedEnvironments?.has(environment) === true;
  return [
    hasFailed(change, report),
    isRisky,
    isRisky ? sizeOf(change, report) : 0,
    isRemoval(change),
    isProtected,
    change.action !== 'create' && change.action !== 'activate',
  ].map(Number);
}

/** The order of two weights, the heavier first. */
export function byWeight(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  return at === -1 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
}

/** Whether reviewers should look at a change before others. */
export function isUrgent(change: Change, report: PlanReport): boolean {
  return hasFailed(change, report) || isRemoval(change) || risksOf(change, report).length > 0;
}

function hasFailed({ id }: Change, report: PlanReport): boolean {
  return (outcomeOf(report, id)?.status ?? 'applied') !== 'applied';
}

function isRemoval(change: Change): boolean {
  return ['delete', 'archive'].includes(deedOf(change));
}
