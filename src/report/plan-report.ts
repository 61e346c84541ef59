import { mostProtectedFirst } from '../model/desired.js';
import type { RampStanding } from '../model/flag/ramp.js';
import type { Impact } from '../model/impact.js';
import type { Outcome, Outcomes, Revision, Unknown } from '../model/outcome.js';
import type {
  Action,
  AllowedFinding,
  Change,
  GuardFinding,
  LeftToPeople,
  Plan,
  PlanNotes,
  Reason,
  Reminder,
  ShownField,
  WithheldWhy,
} from '../model/plan.js';
import { type Kind, type ObjectId, refOfId } from '../model/ref.js';
import type { ClosedEnvironment, LeftOut, Suspension } from '../model/run.js';
import { REQUEST_WANTED } from '../model/change-request.js';
import type { Verdict } from '../model/verdict.js';
import type { Tone } from './text/layout.js';
import { plural } from './values.js';

/** The content of a report on one run, in any format; with `outcomes` on what was done, otherwise on what would be. */
export interface PlanReport {
  readonly plan: Plan;
  /** Title and comment of the writes of each change; withheld changes may have none. */
  readonly notes: PlanNotes;
  readonly planHash: string;
  /** The options that decide what the plan contains, as arguments of `reconcile`. */
  readonly planOptions?: readonly string[];
  readonly shown?: readonly ShownField[];
  /** Lets the changes held by guards or windows pass; left out if there are none. */
  readonly heldHash?: string;
  readonly origin: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly revision: Revision;
  /** Whether the run neither read nor will write a state of earlier runs. */
  readonly stateless: boolean;
  readonly suspended?: Suspension | null;
  /** Later commits have been applied, so that the run leaves alone what they changed. */
  readonly behind?: true | undefined;
  readonly ramps?: readonly RampStanding[];
  /** Of the flags in scope, in the order of the specs. */
  readonly leftToPeople?: readonly LeftToPeople[];
  readonly reminders?: readonly Reminder[];
  readonly closed?: readonly ClosedEnvironment[];
  /** Time of the report, in milliseconds since the epoch, for ages. Default: reports show times instead. */
  readonly nowMs?: number;
  /** Names as the service has them, in the order of application; others follow in the order of the plan. */
  readonly environments: readonly string[];
  readonly protectedEnvironments?: ReadonlySet<string>;
  /** Names of the rules after the change, by position; they are not part of the canonical form. */
  readonly ruleNames?: ReadonlyMap<ObjectId, readonly (string | undefined)[]>;
  /** A change without an entry reaches nobody by itself. */
  readonly impacts?: ReadonlyMap<ObjectId, Impact>;
  readonly killReasons?: ReadonlyMap<ObjectId, string>;
  readonly guardFindings?: readonly GuardFinding[];
  readonly allowed?: readonly AllowedFinding[];
  /** The text report leaves them out, because the run has already printed them. */
  readonly unknowns?: readonly Unknown[];
  /** `KIND/NAME` of objects that the run leaves alone because their specs are invalid; sorted. */
  readonly held?: readonly string[];
  /** What the operator's filters left out of this run; not set without a filter. */
  readonly leftOut?: LeftOut | undefined;
  readonly outcomes?: Outcomes;
  /** What became of the objects: after an apply from a second look, before it from the plan. */
  readonly verdict: Verdict;
  readonly converged?: boolean;
  /** The differences that the second look found: `after` is the wanted value, `before` the found one. */
  readonly left?: readonly Change[];
}

/** The findings that keep the plan from being written. After an apply there are none, because the operator let them pass. */
export function refusingFindings({
  converged,
  guardFindings = [],
}: Pick<PlanReport, 'converged' | 'guardFindings'>): readonly GuardFinding[] {
  return converged === undefined ? guardFindings : [];
}

/** Undefined in a report without outcomes. A change that the apply did not reach counts as skipped. */
export function outcomeOf(report: PlanReport, id: ObjectId): Outcome | undefined {
  if (!report.outcomes) return undefined;
  return report.outcomes.get(id) ?? { status: 'skipped', why: 'the apply ended before it' };
}

export function isUndone({ id }: Pick<Change, 'id'>, report: PlanReport): boolean {
  return (outcomeOf(report, id)?.status ?? 'applied') !== 'applied';
}

/** The environments of the config, the most protected first. */
export function configuredEnvironments({
  environments,
  protectedEnvironments = new Set(),
}: Pick<PlanReport, 'environments' | 'protectedEnvironments'>): string[] {
  return mostProtectedFirst(
    environments.map((name) => ({ name, protected: protectedEnvironments.has(name) })),
  );
}

/** The environments of the config in order, and at the end others that changes name. */
export function shownEnvironments(report: PlanReport): string[] {
  const others = report.plan.changes.flatMap(({ ref }) => ref.environment ?? []);
  return [...new Set([...configuredEnvironments(report), ...others.toSorted()])];
}

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

/** Flags that the service keeps are archived and not deleted. */
type Deed = 'create' | 'update' | 'delete' | 'archive';

export function deedOf({ action, archive }: Pick<Change, 'action' | 'archive'>): Deed {
  return archive ? 'archive' : ACTIONS[action].deed;
}

/** Each number of changes worded by `textOf`; archived flags are counted only if there are any. */
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

interface ActionPhrases {
  readonly symbol: string;
  readonly tone: Tone;
  readonly deed: Deed;
  readonly done: string;
}

const ADDED = { symbol: '+', tone: 'add', deed: 'create' } as const;
const REMOVED = { symbol: '-', tone: 'remove', deed: 'delete' } as const;

export const ACTIONS: Readonly<Record<Action, ActionPhrases>> = {
  create: { ...ADDED, done: 'created' },
  activate: { ...ADDED, done: 'activated' },
  update: { symbol: '~', tone: 'change', deed: 'update', done: 'updated' },
  delete: { ...REMOVED, done: 'deleted' },
  deactivate: { ...REMOVED, done: 'deactivated' },
};

export function phrasesOf({ action, archive }: Pick<Change, 'action' | 'archive'>): ActionPhrases {
  return archive ? { ...ACTIONS[action], done: 'archived' } : ACTIONS[action];
}

/** A commit is the usual reason and is not mentioned. */
export const REASON_WORDS: Readonly<Record<Exclude<Reason, 'commit' | 'unknown'>, string>> = {
  kill: 'kill: ordered in git',
  restore: 'restore: the kill was taken back in git',
  conflict: 'conflict: changed in git and outside git',
  prune: 'prune: no longer in git',
  ramp: 'ramp: as its spec plans it',
  drift: 'drift: changed outside git',
  adopt: 'adopt: exists, and no run remembers it here',
};

export const WHY_WORDS: Readonly<Record<WithheldWhy, string>> = {
  'prune-off': 'no longer in git, and pruning is off',
  protected: 'no longer in git, and protected from deletion',
  'no-witness': 'no longer in git, but no ancestor of HEAD is seen to have declared it',
  'not-ours': 'no longer in git, and what has its name now was made by somebody else',
  'still-in-use': 'no longer in git, but still in use',
  'drift-reported': 'changed outside git, which is reported here and not reverted',
  contested: 'corrected three times within an hour, and somebody else keeps writing it',
  'conflict-held': 'changed in git and outside git, which is held here',
  'adopt-needed': 'exists and differs, and no run remembers it here',
  immutable: 'the service sets this at creation only',
  'live-kill': 'killed on the service, as far as known not by git',
  'approval-needed': REQUEST_WANTED.brief,
  suspended: 'nothing is written while the run is suspended',
  'ramp-held': 'its live share is not that of its ramp',
  'check-failed': 'a failed check took the ramp back',
  'window-closed': 'waits for a window to open or a freeze to end',
  'needs-withheld': 'needs something that is withheld',
  'not-reviewed': 'not in the reviewed plan',
  'not-remembered': 'nothing is remembered that would tell whether it was written',
  'stays-on-service': 'no longer in git, and stays on the service',
};

interface KindText {
  /** `fields` shows both values of each field. `identities` shows the number of writes, and the service's refusals. */
  readonly details: 'fields' | 'identities';
  readonly unknown: string;
  readonly renameCost: string;
  readonly reachesNobody: string;
  readonly counted: (count: number) => string;
  readonly countedNew: (count: number) => string;
}

const OWN_TEXTS: Readonly<Partial<Record<Kind, Partial<KindText>>>> = {
  flag: {
    renameCost: 'to the service another flag, so users are distributed anew',
    reachesNobody: 'nobody',
  },
  segment: { renameCost: 'to the service another segment, so rules have to name it' },
  identities: {
    details: 'identities',
    unknown: 'unknown: --identities asks for all of them',
    renameCost: 'to the service another traffic type',
    counted: (count) => `${String(count)} identities`,
    countedNew: (count) => `identities of ${plural(count, 'traffic type')}`,
  },
};

export function kindText(kind: Kind): KindText {
  return {
    details: 'fields',
    unknown: 'unknown: nothing is remembered that would tell why',
    renameCost: `to the service another ${kind}`,
    reachesNobody: 'nobody, by the flags that are known here',
    counted: (count) => plural(count, kind),
    countedNew: (count) => plural(count, `new ${kind}`),
    ...OWN_TEXTS[kind],
  };
}
