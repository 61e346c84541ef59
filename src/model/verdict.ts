import { REQUEST_WANTED } from './change-request.js';
import { EXIT, type ExitCode } from '../errors.js';
import type { Outcome, OutcomeError, Outcomes } from './outcome.js';
import {
  isRemoval,
  withdrawStepId,
  type Change,
  type Plan,
  type Reason,
  type Withheld,
  type WithheldWhy,
} from './plan.js';
import { refOfId, type ObjectId } from './ref.js';
import {
  guardRemedy,
  killRemedy,
  remedyOf,
  retryRemedy,
  waysOfRequest,
  type Refusal,
  type Remedy,
} from './remedy.js';

/** Why an order of git is not live, in words for people. */
export const WHY = {
  /** The event that ends a wait. */
  waits: {
    apply: 'not applied yet',
    window: 'waiting for a window',
    ramp: 'waiting for a step of a ramp',
    suspended: 'suspended',
    'live-kill': 'killed on the service',
    removal: 'kept on the service after its removal from git',
    'drift-reported': 'changed on the service, which the config leaves so',
    'another-object': 'waiting for another object',
  },
  /** The decision that a person has to make. */
  held: {
    conflict: 'held for a person (changed in git and on the service)',
    adoption: 'held for a person (no run remembers it)',
    approval: REQUEST_WANTED.held,
    review: 'held for a person (no reviewed plan shows it)',
    guard: 'refused by a guard',
    'ramp-changed': 'held for a person (its share is not that of its ramp)',
    'check-failed': 'held for a person (a failed check took its ramp back)',
    contested: 'held for a person (another writer keeps changing it)',
    'another-object': 'held by another object',
  },
  unknown: {
    'invalid-file': 'unknown (invalid file)',
    unanswered: 'unknown (not seen since the write)',
    'checkout-away': 'unknown (the checkout is away)',
    'remote-away': 'unknown (the remote does not answer)',
    'service-away': 'unknown (the service does not answer)',
    'key-refused': 'unknown (the service refuses the key)',
    'key-missing': 'unknown (no key)',
    'place-missing': 'unknown (the service lacks the workspace or environment)',
    'not-confirmed': 'unknown (not confirmed for too long)',
  },
  failed: {
    refused: 'failed',
    'not-sent': 'not sent',
    'not-as-written': 'written, but different on the service',
  },
} as const;

export type WaitsFor = keyof typeof WHY.waits;
export type HeldFor = keyof typeof WHY.held;
export type UnknownWhy = keyof typeof WHY.unknown;

/** What became of an order of git. Times are ISO 8601 in UTC. */
export type Standing =
  /** The service was seen to have what git orders. */
  | { readonly is: 'live' }
  | {
      readonly is: 'waits';
      readonly why: WaitsFor;
      readonly until: string | null;
      /** A way not to wait; null if there is nothing to do. */
      readonly remedy: Remedy | null;
    }
  | { readonly is: 'held'; readonly why: HeldFor; readonly remedy: Remedy }
  | {
      readonly is: 'failed';
      readonly why: keyof typeof WHY.failed;
      readonly remedy: Remedy;
    }
  | {
      readonly is: 'unknown';
      readonly why: UnknownWhy;
      /** The last moment at which it was known; null if it never was. */
      readonly since: string | null;
    };

export type StandingName = Standing['is'];

/** Best first. A whole is as good as its worst part. */
export const STANDINGS = [
  'live',
  'waits',
  'held',
  'unknown',
  'failed',
] as const satisfies readonly StandingName[];

export interface Verdict {
  /** In the order of the plan: what changed, then what was withheld, then what was equal. */
  readonly objects: ReadonlyMap<ObjectId, Standing>;
  readonly whole: StandingName;
}

/** Differences that the next run without a review applies by itself, because their specs were reviewed before. */
const REVIEWED_BEFORE: ReadonlySet<Reason> = new Set(['drift', 'ramp']);

/**
 * Null for differences that no run may write: neither the exit code of an apply nor readiness depends on them. A plan
 * alone counts what `pendingWithheld` leaves of them.
 */
const JUDGED: Readonly<
  Record<
    Exclude<WithheldWhy, 'needs-withheld'>,
    | { readonly is: 'held'; readonly why: HeldFor }
    | { readonly is: 'waits'; readonly why: WaitsFor }
    | null
  >
> = {
  'conflict-held': { is: 'held', why: 'conflict' },
  'adopt-needed': { is: 'held', why: 'adoption' },
  'approval-needed': { is: 'held', why: 'approval' },
  'not-reviewed': { is: 'held', why: 'review' },
  contested: { is: 'held', why: 'contested' },
  'check-failed': { is: 'held', why: 'check-failed' },
  'prune-off': { is: 'waits', why: 'removal' },
  'no-witness': { is: 'waits', why: 'removal' },
  protected: { is: 'waits', why: 'removal' },
  'still-in-use': { is: 'waits', why: 'removal' },
  'drift-reported': { is: 'waits', why: 'drift-reported' },
  'live-kill': { is: 'waits', why: 'live-kill' },
  suspended: { is: 'waits', why: 'suspended' },
  'ramp-held': { is: 'waits', why: 'ramp' },
  'window-closed': { is: 'waits', why: 'window' },
  immutable: null,
  'not-ours': null,
  'not-remembered': null,
  'stays-on-service': null,
};

export interface RunEnd {
  readonly plan: Pick<Plan, 'changes' | 'withheld' | 'unchanged' | 'liveKills' | 'withdrawals'>;
  /** Not set for a plan that was not applied. */
  readonly outcomes?: Outcomes | undefined;
  readonly left?: readonly Change[] | undefined;
  /** Whether the second look could not see all writes. */
  readonly isUnverified?: boolean;
  /** `KIND/NAME` of objects with invalid specs. */
  readonly invalid?: readonly string[];
  readonly refusal?: Refusal | undefined;
}

export function verdictOf(end: RunEnd): Verdict {
  const { plan, invalid = [] } = end;
  const objects = new Map<ObjectId, Standing>();
  const add = (id: ObjectId, standing: Standing | undefined): void => {
    const known = objects.get(id);
    if (standing && (!known || isWorse(standing, known))) objects.set(id, standing);
  };
  const left = new Set(end.left?.map(({ id }) => id));
  for (const change of plan.changes) add(change.id, standingOfChange(change, end, left));
  for (const id of left) add(id, failed(id, 'not-as-written', null));
  for (const each of plan.withdrawals ?? []) {
    const outcome = end.outcomes?.get(withdrawStepId(each));
    if (outcome && outcome.status !== 'applied') add(each.id, standingOfUndone(each.id, outcome));
  }
  const withheldBy = new Map(plan.withheld.map((each) => [each.id, each]));
  for (const each of plan.withheld) {
    const judged = judgeWithheld(each, withheldBy);
    if (judged) add(each.id, { ...judged, remedy: remedyOf(each) });
  }
  for (const kill of plan.liveKills) add(kill.id, waits('live-kill', null, killRemedy(kill)));
  for (const id of invalid) add(id, { is: 'unknown', why: 'invalid-file', since: null });
  for (const id of plan.unchanged) add(id, LIVE);
  return { objects, whole: worstOf(objects.values()) };
}

const LIVE: Standing = { is: 'live' };
const UNANSWERED: Standing = { is: 'unknown', why: 'unanswered', since: null };

function failed(
  id: ObjectId,
  why: Extract<Standing, { is: 'failed' }>['why'],
  because: string | null,
  error?: OutcomeError,
): Standing {
  return { is: 'failed', why, remedy: retryRemedy(id, because, error) };
}

function waits(why: WaitsFor, until: string | null = null, remedy: Remedy | null = null): Standing {
  return { is: 'waits', why, until, remedy };
}

/** Undefined for an object that is gone, as git orders. */
function standingOfChange(
  { id, action }: Change,
  { outcomes, isUnverified = false, refusal, left: found = [] }: RunEnd,
  left: ReadonlySet<ObjectId>,
): Standing | undefined {
  const outcome = outcomes?.get(id);
  if (outcome?.status === 'applied') {
    // Without any difference seen, the look itself failed.
    if (isUnverified && (found.length === 0 || left.has(id))) return UNANSWERED;
    if (left.has(id)) return failed(id, 'not-as-written', null);
    return isRemoval({ action }) ? undefined : LIVE;
  }
  if (refusal) return { is: 'held', why: 'guard', remedy: guardRemedy(refusal) };
  if (outcomes === undefined) return waits('apply');
  return standingOfUndone(id, outcome, isUnverified);
}

function standingOfUndone(
  id: ObjectId,
  outcome: Exclude<Outcome, { status: 'applied' }> | undefined,
  isUnverified = false,
): Standing {
  if (outcome === undefined) return failed(id, 'not-sent', null);
  if (outcome.status === 'failed') {
    // A second look settles a write without an answer.
    if (outcome.fateUnknown && isUnverified) return UNANSWERED;
    return failed(id, 'refused', outcome.error.message, outcome.error);
  }
  if (outcome.approvalNeeded) {
    const { why: because, request, isWaitingForAnother } = outcome;
    const remedy = { because, ways: request ? waysOfRequest(request) : [] };
    return { is: 'held', why: isWaitingForAnother ? 'another-object' : 'approval', remedy };
  }
  if (outcome.windowClosed) {
    const { ways } = remedyOf({ id, why: 'window-closed', action: 'update', fields: [] });
    return waits('window', outcome.until ?? null, { because: outcome.why, ways });
  }
  if (outcome.overtaken) return LIVE;
  return failed(id, 'not-sent', outcome.why);
}

type Judgeable = Pick<Withheld, 'why' | 'reason' | 'until' | 'dependsOn'>;

type Judged =
  | { readonly is: 'waits'; readonly why: WaitsFor; readonly until: string | null }
  | { readonly is: 'held'; readonly why: HeldFor };

/** Undefined for a difference that git does not order. */
export function judgeWithheld(
  withheld: Judgeable,
  all: ReadonlyMap<ObjectId, Judgeable> = new Map(),
): Judged | undefined {
  const { why, reason, until = null } = withheld;
  if (why === 'needs-withheld') {
    const needed = withheld.dependsOn.flatMap((id) => all.get(id) ?? []);
    const isHeld = needed.some((each) => judgeWithheld(each)?.is === 'held');
    return isHeld
      ? { is: 'held', why: 'another-object' }
      : { is: 'waits', why: 'another-object', until };
  }
  if (why === 'ramp-held' && reason !== 'ramp') return { is: 'held', why: 'ramp-changed' };
  if (why === 'not-reviewed' && REVIEWED_BEFORE.has(reason)) {
    return { is: 'waits', why: 'apply', until };
  }
  if (why === 'live-kill' && reason === 'restore') return { is: 'held', why: 'conflict' };
  const judged = JUDGED[why] ?? undefined;
  return judged?.is === 'waits' ? { ...judged, until } : judged;
}

function isWorse(one: Standing, other: Standing): boolean {
  return STANDINGS.indexOf(one.is) > STANDINGS.indexOf(other.is);
}

export function worstOf(standings: Iterable<Standing>): StandingName {
  const names = new Set([...standings].map(({ is }) => is));
  return STANDINGS.findLast((name) => names.has(name)) ?? 'live';
}

/** The part of a verdict for one environment; null for the workspace level. */
export function verdictIn(verdict: Pick<Verdict, 'objects'>, environment: string | null): Verdict {
  const isHere = (id: ObjectId): boolean => (refOfId(id)?.environment ?? null) === environment;
  const objects = new Map([...verdict.objects].filter(([id]) => isHere(id)));
  return { objects, whole: worstOf(objects.values()) };
}

export function countsOf({
  objects,
}: Pick<Verdict, 'objects'>): Readonly<Record<StandingName, number>> {
  const counts = { live: 0, waits: 0, held: 0, failed: 0, unknown: 0 };
  for (const { is } of objects.values()) counts[is] += 1;
  return counts;
}

export function those<S extends StandingName>(
  { objects }: Pick<Verdict, 'objects'>,
  name: S,
): readonly (Extract<Standing, { is: S }> & { readonly id: ObjectId })[] {
  return [...objects].flatMap(([id, standing]) =>
    standing.is === name ? [{ id, ...(standing as Extract<Standing, { is: S }>) }] : [],
  );
}

/** @param options with `allowHeld`, objects that are held for a person are no failure. */
export function exitOf(
  verdict: Verdict,
  { allowHeld = false }: { readonly allowHeld?: boolean | undefined } = {},
): ExitCode {
  switch (verdict.whole) {
    case 'live':
    case 'waits':
      return EXIT.ok;
    case 'held':
      return allowHeld ? EXIT.ok : EXIT.held;
    case 'unknown':
    case 'failed':
      return isDone(verdict) ? EXIT.invalidSpecs : EXIT.notConverged;
  }
}

/** Whether the run did everything that it may do: objects with invalid specs and those that wait or are held stay. */
export function isDone(verdict: Verdict): boolean {
  const isInvalid = those(verdict, 'unknown').every(({ why }) => why === 'invalid-file');
  return isInvalid && those(verdict, 'failed').length === 0;
}

/** Whether a second look found nothing that this program or a person still has to do. */
export function isConverged({ whole }: Pick<Verdict, 'whole'>): boolean {
  return whole === 'live' || whole === 'waits';
}
