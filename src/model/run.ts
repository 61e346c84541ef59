import type { Plan as WrittenPlan } from '../generated/plan.schema.d.js';
import type { Progress as WrittenProgress } from '../generated/status.schema.d.js';
import type { BoundDesired } from './bound-desired.js';
import type { Ladder } from './flag/ramp.js';
import type { Frozen } from './json.js';
import type { Change } from './plan.js';
import type { ObjectId } from './ref.js';

/** Prevents writes of a run that another run may have replaced. */
export interface Fence {
  readonly lease: string;
  /** Greater than that of each earlier holder of the lease. */
  readonly term: number;
  /**
   * Call and await it right before each write; `isUrgent`: the write only kills.
   *
   * @throws FlagkeelError `INTERRUPTED` if the lease is lost, or may be lost: then kills that git orders still pass.
   */
  readonly check: (write: { readonly isUrgent: boolean }) => Promise<void>;
  /**
   * Takes a further lease, which `check` checks too, until the returned function is called.
   *
   * @throws FlagkeelError `IN_USE` if another run still holds it.
   */
  readonly enter: (
    lease: string,
    wait: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<() => Promise<void>>;
}

export const DEFAULT_CONCURRENCY = 8;

export type Phase = ProgressView['phase'];

/** A pause because requests are throttled, or because one of them will be repeated. */
export interface Wait {
  readonly waitMs: number;
  /** Clause for people: `the service answered 503`. */
  readonly why: string;
  /** The waiting operation: `read flags`. */
  readonly what: string;
}

/** Implementations must be quick and must not throw. */
export interface Progress {
  /** Restarts the count. @param asked which forge, as `GitHub (api.github.com)`. */
  phase(phase: Phase, asked?: string): void;
  /** Objects observed, or steps sent. */
  count(done: number, total: number): void;
  waiting(wait: Wait): void;
  /** Sets the source of the number of requests sent, each try counted. */
  requests(sent: () => number): void;
  /** Nothing is shown until the next phase begins. */
  end(): void;
}

/** As the status and the events of runs have it. */
export type ProgressView = Frozen<WrittenProgress>;

export interface RunOptions {
  /** Origin of the administration service; overrides `FLAGKEEL_URL` and flagkeel.yaml. */
  readonly url?: string;
  /** Overrides every origin. */
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  /** Names or ids; empty for all. */
  readonly environments: readonly string[];
  /** `KIND/NAME`; empty for all. */
  readonly only: readonly string[];
  /** `KIND/NAME` of objects that are not planned. */
  readonly exclude?: readonly string[];
  /** Plan only flags with one of these tags; empty for all. Kills go whatever tags and owners say. */
  readonly tags?: readonly string[];
  /** Plan only flags of one of these owners; empty for all. */
  readonly owners?: readonly string[];
  readonly prune: boolean;
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Default: `DEFAULT_CONCURRENCY`. */
  readonly concurrency?: number | undefined;
  /** Also write identities that are unchanged since their base. */
  readonly identities?: boolean;
  /** Whether HEAD need not follow the last applied commit. `beside`: unless it is an older one. */
  readonly allowOlder: boolean | 'beside';
  /** The run applies a reviewed plan: HEAD may be older than the last applied commit, see `PlanPolicy.behind`. */
  readonly mayBeBehind?: boolean;
  /** How to compare the keys of segments that git did not change. Default: whichever takes fewer requests. */
  readonly keys?: 'listed' | 'counted' | undefined;
  /** Observe only touched objects, if this process or the state knows enough of the rest; see `chooseScope`. */
  readonly touchedSince?: 'memory' | 'state' | undefined;
  /** Leave invalid objects, and objects that name them, as they are on the service, and continue with the rest. */
  readonly quarantineInvalid?: boolean;
  /** Plan only objects whose specs differ from this revision's, and hold back the others. */
  readonly since?: string | undefined;
  /** Hold back what these reviewed plans did not show. */
  readonly shown?: ShownChanges | undefined;
  /** Why this run ignores windows and freezes; quoted in the comment of each write that they would have held. */
  readonly overrideWindow?: string | undefined;
  /** A plan with one of these hashes passes guards, windows and freezes. */
  readonly approvals?: readonly Approval[] | undefined;
  /** Suspension by request; it holds back the same changes as `suspend: true` in the config. */
  readonly suspend?: Suspension | undefined;
}

/** What the filters of a run leave out: declared objects as `KIND/NAME`, sorted, and environments by name. */
export type LeftOut = Frozen<NonNullable<WrittenPlan['leftOut']>>;

/** Whether runs share their state over origin. `auto`: where origin permits it; `always`: a run that cannot fails. */
export type StateSharing = 'never' | 'auto' | 'always';

/** Stops all writes except kills. */
export interface Suspension {
  /** For people; untrusted if it came by request. */
  readonly reason: string;
  /** ISO 8601; null if it lasts until git ends it. */
  readonly until: string | null;
}

export interface Place {
  /** Name of the service in plans. */
  readonly origin: string;
  readonly workspaceId: string;
}

export interface ShownChanges {
  /** Objects that the plans change. */
  readonly ids: ReadonlySet<ObjectId>;
  /** Whether the plans for this place show every part of a change. Kills and steps of ramps that began need no plan. */
  readonly shows: (
    change: Omit<Change, 'dependsOn'>,
    facts: {
      readonly place: Place;
      /** The specs where the changes start. Default: each field starts at its base. */
      readonly start?: BoundDesired | undefined;
      /** The ramps of the specs, by definition. */
      readonly ladders: ReadonlyMap<ObjectId, readonly Ladder[]>;
    },
  ) => boolean;
}

export interface Approval {
  readonly hash: string;
  /** Untrusted if it came by request or from a comment. */
  readonly by?: string | undefined;
  /** Name of the token of the request, if it came by request: `by` is only what the token's holder claims. */
  readonly token?: string | undefined;
  /** Name of the comment that holds it, unique among all forges. Such an approval can be used once. */
  readonly comment?: string | undefined;
}

/** The words in the comment of a write that record the approval of its plan. */
export function approvalText({ hash, by, token }: Approval): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return `approved as ${hash}${who}${token === undefined ? '' : `, with the token "${token}"`}`;
}

export interface ClosedEnvironment extends Closed {
  readonly environment: string;
  /** Why this run ignores the closing; unset if it does not. */
  readonly override?: string;
}

/** A closing: only kills and their restores may go now. */
export interface Closed {
  /** Clause for people: `frozen by "black-friday"`. */
  readonly why: string;
  /** When changes may go again, ISO 8601 in UTC; null if unknown. */
  readonly until: string | null;
  /** The time of `until` for people, in the zone of the window or freeze. */
  readonly untilText: string | null;
}

export const SUSPENDED_BY_CONFIG: Suspension = {
  reason: '`suspend: true` in flagkeel.yaml',
  until: null,
};

/** An empty filter accepts all. */
export function isSelected(filter: readonly string[], names: readonly string[]): boolean {
  return filter.length === 0 || filter.some((each) => names.includes(each));
}
