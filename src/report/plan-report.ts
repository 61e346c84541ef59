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

/** Of a run that did not look at everything. */
export const TOUCHED_TEXT =
  'Only what changed in git, or was not in sync before, was looked at; drift elsewhere was not.';

/**
 * How a change ended; undefined in a report without outcomes. A change that the apply never came to
 * was skipped.
 */
export function outcomeOf(report: PlanReport, id: ObjectId): Outcome | undefined {
  if (!report.outcomes) return undefined;
  return report.outcomes.get(id) ?? { status: 'skipped', why: 'the apply ended before it' };
}

/** Changes by what happens to the object: an activation counts as a creation, a deactivation as a deletion. */
export interface ActionCounts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
}

/** How each action is counted. */
export const COUNTED_AS = {
  create: 'create',
  activate: 'create',
  update: 'update',
  delete: 'delete',
  deactivate: 'delete',
} as const;

/** Numbers of changes by what happens to the object. */
export function countActions(
  changes: readonly { readonly action: keyof typeof COUNTED_AS }[],
): ActionCounts {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const { action } of changes) counts[COUNTED_AS[action]] += 1;
  return counts;
}

/** Of the changes that count as deletions, those that the service keeps. */
export function countArchived(changes: readonly Pick<Change, 'archive'>[]): number {
  return changes.filter(({ archive }) => archive === true).length;
}
