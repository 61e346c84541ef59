import type { Risk } from '../model/impact.js';
import { RISKS } from '../model/impact.js';
import type { Change } from '../model/plan.js';
import { keyOf, type Kind, type ObjectKey } from '../model/ref.js';
import { COUNTED_AS, outcomeOf, type PlanReport } from './plan-report.js';

/** One object with all that happens to it, as reports show it. */
export interface PlannedObject {
  readonly key: ObjectKey;
  readonly kind: Kind;
  /** Environments in the order in which they are shown, see `shownEnvironments`; the object itself comes last. */
  readonly changes: readonly Change[];
}

/**
 * The changes of a plan by object. Objects with a change that is risky, failed or removes something come first, then those
 * with a change in a protected environment; apart from that the order of the plan stays.
 */
export function plannedObjects(report: PlanReport): PlannedObject[] {
  const byKey = new Map<ObjectKey, Change[]>();
  for (const change of report.plan.changes) {
    const key = keyOf(change.ref.kind, change.ref.name);
    const changes = byKey.get(key) ?? [];
    byKey.set(key, changes);
    changes.push(change);
  }
  const places = shownEnvironments(report);
  const placeOf = ({ ref }: Change): number =>
    ref.environment === null ? Infinity : places.indexOf(ref.environment);
  return [...byKey]
    .map(([key, changes]): PlannedObject => {
      const sorted = changes.toSorted((a, b) => compared(placeOf(a), placeOf(b)));
      return { key, kind: changes[0]?.ref.kind ?? 'flag', changes: sorted };
    })
    .toSorted((a, b) => compared(urgency(a, report), urgency(b, report)));
}

/**
 * All environments of a report, the protected ones first, and among equals the one that is applied last; environments that
 * nobody ordered come behind.
 */
export function shownEnvironments(report: PlanReport): string[] {
  const { environments, protectedEnvironments = new Set() } = report;
  const known = environments.toReversed();
  const others = report.plan.changes.flatMap(({ ref }) => ref.environment ?? []);
  return [
    ...new Set([
      ...known.filter((name) => protectedEnvironments.has(name)),
      ...known,
      ...others.toSorted(),
    ]),
  ];
}

/** The risks of a change, in the order of `RISKS`; a kill is one whether or not its impact was worked out. */
export function risksOf(change: Change, report: PlanReport): Risk[] {
  const found = new Set(report.impacts?.get(change.id)?.risks);
  if (change.fields.some(({ path, after }) => path === '/killed' && after === true)) {
    found.add('kills');
  }
  return RISKS.filter((risk) => found.has(risk));
}

/** Whether a reviewer has to look at a change before the others. */
export function isUrgent(change: Change, report: PlanReport): boolean {
  const status = outcomeOf(report, change.id)?.status ?? 'applied';
  return (
    status !== 'applied' ||
    COUNTED_AS[change.action] === 'delete' ||
    risksOf(change, report).length > 0
  );
}

function urgency({ changes }: PlannedObject, report: PlanReport): number {
  if (changes.some((change) => isUrgent(change, report))) return 0;
  const isProtected = changes.some(({ ref }) => {
    return ref.environment !== null && report.protectedEnvironments?.has(ref.environment) === true;
  });
  return isProtected ? 1 : 2;
}

function compared(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
