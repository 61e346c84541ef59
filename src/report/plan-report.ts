import type { Verdict } from '../model/verdict.js';
import type {
  AllowedFinding,
  Change,
  GuardFinding,
  LeftToPeople,
  Plan,
  PlanNotes,
  Reminder,
  ShownField,
} from '../model/plan.js';
import type { RampStanding } from '../model/flag/ramp.js';
import type { Impact } from '../model/impact.js';
import type { ObjectId } from '../model/ref.js';
import type { ClosedEnvironment, LeftOut, Suspension } from '../model/run.js';
import type { Outcome, Outcomes, Revision, Unknown } from '../model/outcome.js';

/**
 * The content of a report on one run, in any format. With `outcomes` the report describes what was done, without them
 * what would be done.
 */
export interface PlanReport {
  readonly plan: Plan;
  /** Title and comment of the writes of each change; withheld changes may have none. */
  readonly notes: PlanNotes;
  /** `sha256:` and lower-case hex. */
  readonly planHash: string;
  /** Options of the run that decide what its plan contains, as arguments of `reconcile`. */
  readonly planOptions?: readonly string[];
  /** The fields of the changes in the form in which `--plan` compares them. */
  readonly shown?: readonly ShownField[];
  /** The hash that approves the changes held by guards or windows; left out if there are none. */
  readonly heldHash?: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly revision: Revision;
  /** Whether the run neither read nor will write a state of earlier runs. */
  readonly stateless: boolean;
  /** A suspension of the source, which holds all writes but kills. */
  readonly suspended?: Suspension | null;
  /** The progress of the ramps of definitions, sorted by id. */
  readonly ramps?: readonly RampStanding[];
  /** Of the flags in scope, in the order of the specs. */
  readonly leftToPeople?: readonly LeftToPeople[];
  /** Reviews that the specs wanted by now, sorted by id. */
  readonly reminders?: readonly Reminder[];
  /** Environments that are closed to changes for now, in the order of the environments. */
  readonly closed?: readonly ClosedEnvironment[];
  /** Time of the report, in milliseconds since the epoch, for ages. Default: reports show times instead. */
  readonly nowMs?: number;
  /** Names as the service has them, in the order of application; others follow in the order of the plan. */
  readonly environments: readonly string[];
  /** The protected environments; reports show them first. */
  readonly protectedEnvironments?: ReadonlySet<string>;
  /** The newest commit behind a change, if known. */
  readonly commits?: ReadonlyMap<ObjectId, string>;
  /** Names of the rules after the change, by position; they are not part of the canonical form. */
  readonly ruleNames?: ReadonlyMap<ObjectId, readonly (string | undefined)[]>;
  /** The users that each change reaches; a change without an entry reaches none by itself. */
  readonly impacts?: ReadonlyMap<ObjectId, Impact>;
  /** The reason why the break-glass list kills a definition, and the author of the entry. */
  readonly killReasons?: ReadonlyMap<ObjectId, string>;
  readonly guardFindings?: readonly GuardFinding[];
  /** Findings of guards that the specs allow. */
  readonly allowed?: readonly AllowedFinding[];
  /**
   * Facts that the run could not find out. The text report leaves them out, because the run has already printed them.
   */
  readonly unknowns?: readonly Unknown[];
  /** `KIND/NAME` of objects that the run leaves alone because their specs are invalid; sorted. */
  readonly held?: readonly string[];
  /** What the operator's filters left out of this run; not set without a filter. */
  readonly leftOut?: LeftOut | undefined;
  readonly outcomes?: Outcomes;
  /** What became of the objects: after an apply from a second look, before it from the plan. */
  readonly verdict: Verdict;
  /** Only after an apply: whether the verdict is `isConverged`. */
  readonly converged?: boolean;
  /** The differences that the second look found: `after` is the wanted value, `before` the found one. */
  readonly left?: readonly Change[];
}

/**
 * The result of a change; undefined in a report without outcomes. A change that the apply did not reach counts as
 * skipped.
 */
export function outcomeOf(report: PlanReport, id: ObjectId): Outcome | undefined {
  if (!report.outcomes) return undefined;
  return report.outcomes.get(id) ?? { status: 'skipped', why: 'the apply ended before it' };
}

/**
 * The action on an object in the words of reports; an activation counts as a creation, a deactivation as a deletion.
 */
const DEED_OF = {
  create: 'create',
  activate: 'create',
  update: 'update',
  delete: 'delete',
  deactivate: 'delete',
} as const;

/** Flags that the service keeps are archived and not deleted. */
type Deed = (typeof DEED_OF)[keyof typeof DEED_OF] | 'archive';

export function deedOf({ action, archive }: Pick<Change, 'action' | 'archive'>): Deed {
  return archive ? 'archive' : DEED_OF[action];
}

/** The number of changes by action, each worded by `textOf`; archived flags are counted only if there are any. */
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
