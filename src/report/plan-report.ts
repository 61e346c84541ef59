import type { Standing } from '../model/unfinished.js';
import type { RampStanding } from '../model/flag/ramp.js';
import type { Impact } from '../model/impact.js';
import type { ObjectId } from '../model/ref.js';
import type {
  AllowedFinding,
  Change,
  GuardFinding,
  Plan,
  PlanNotes,
  Reminder,
} from '../model/plan.js';
import type { ClosedEnvironment, Suspension } from '../model/run.js';
import type { Outcome, Outcomes, Revision, Unknown } from '../model/outcome.js';

/**
 * Everything that a report of one run says, whatever its format. A report with `outcomes` says what
 * was done, one without what would be done.
 */
export interface PlanReport {
  readonly plan: Plan;
  /** Title and comment of the writes of each change; a withheld change may have none. */
  readonly notes: PlanNotes;
  /** `sha256:` and lower-case hex. */
  readonly planHash: string;
  /** Approves what a guard or a window holds back; absent where neither does. */
  readonly heldHash?: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly revision: Revision;
  /** Whether nothing was remembered from earlier runs and nothing will be. */
  readonly stateless: boolean;
  /** Holds back all writes but kills, where the source is suspended. */
  readonly suspended?: Suspension | null;
  /** How far the ramps of the definitions have come, sorted by id. */
  readonly ramps?: readonly RampStanding[];
  /** What the specs wanted looked at again by now, sorted by id. */
  readonly reminders?: readonly Reminder[];
  /** Where changes go at another time, in the order of the environments. */
  readonly closed?: readonly ClosedEnvironment[];
  /** Names as the service has them, in the order of application; others follow in the order of the plan. */
  readonly environments: readonly string[];
  /** Those of the environments that are protected; reports show them first. */
  readonly protectedEnvironments?: ReadonlySet<string>;
  /** The newest commit behind a change, where one is known. */
  readonly commits?: ReadonlyMap<ObjectId, string>;
  /** Names of the rules as they will be, position by position; they are no part of the canonical form. */
  readonly ruleNames?: ReadonlyMap<ObjectId, readonly (string | undefined)[]>;
  /** Users that each change reaches; a change without an entry reaches none by itself. */
  readonly impacts?: ReadonlyMap<ObjectId, Impact>;
  /** Why the break-glass list kills a definition, and who put it there. */
  readonly killReasons?: ReadonlyMap<ObjectId, string>;
  readonly guardFindings?: readonly GuardFinding[];
  /** Guards that the specs let the plan pass. */
  readonly allowed?: readonly AllowedFinding[];
  /** What could not be known. The text report says it while the run goes on and not here. */
  readonly unknowns?: readonly Unknown[];
  /** `KIND/NAME` of what was left as it is because its specs are invalid; sorted. */
  readonly held?: readonly string[];
  readonly outcomes?: Outcomes;
  /** How the service stands after the apply, by a second look. */
  readonly standing?: Standing;
  /** Whether that is `in-sync`. */
  readonly converged?: boolean;
  /** The differences that the second look found: `after` is what was wanted, `before` what was found. */
  readonly left?: readonly Change[];
}

/**
 * How a change ended; undefined in a report without outcomes. A change that the apply never came to
 * was skipped.
 */
export function outcomeOf(report: PlanReport, id: ObjectId): Outcome | undefined {
  if (!report.outcomes) return undefined;
  return report.outcomes.get(id) ?? { status: 'skipped', why: 'the apply ended before it' };
}

/** What happens to an object; an activation counts as a creation, a deactivation as a deletion. */
const DEED_OF = {
  create: 'create',
  activate: 'create',
  update: 'update',
  delete: 'delete',
  deactivate: 'delete',
} as const;

/** A flag that the service keeps is archived, and not deleted. */
type Deed = (typeof DEED_OF)[keyof typeof DEED_OF] | 'archive';

export function deedOf({ action, archive }: Pick<Change, 'action' | 'archive'>): Deed {
  return archive ? 'archive' : DEED_OF[action];
}

/** How many changes do what, as `textOf` words each; of archived flags only where there are any. */
export function deedsText(
  changes: readonly Change[],
  textOf: (deed: Deed, count: number) => string,
): string {
  const { archive, ...always } = countDeeds(changes);
  const counts = { ...always, ...(archive > 0 && { archive }) };
  return Object.entries(counts)
    .map(([deed, count]) => textOf(deed as Deed, count))
    .filter((text) => text !== '')
    .join(', ');
}

export function countDeeds(changes: readonly Change[]): Readonly<Record<Deed, number>> {
  const counts = { create: 0, update: 0, delete: 0, archive: 0 };
  for (const change of changes) counts[deedOf(change)] += 1;
  return counts;
}
