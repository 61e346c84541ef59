/** What a write is about. */
export interface FencedWrite {
  /** It kills, and changes nothing else. */
  readonly isKill: boolean;
}

/**
 * Keeps a run that others may have taken over from writing. Each holder of a lease has a greater term than the one
 * before it, so that whoever compares terms knows who is the later.
 */
export interface Fence {
  readonly lease: string;
  readonly term: number;
  /**
   * Has to be awaited right before each write.
   *
   * @throws FlagkeelError `INTERRUPTED` the lease is lost, or nobody can tell whether it is:
   * nothing may be written then, except a kill that git orders while nobody can tell.
   */
  readonly check: (write: FencedWrite) => Promise<void>;
  /**
   * Takes a further lease for the rest of the run, which `check` looks at too.
   *
   * @returns gives it back.
   * @throws FlagkeelError `IN_USE` another run holds it still.
   */
  readonly enter: (
    lease: string,
    wait: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<() => Promise<void>>;
}

/** Requests of a run at the same time, unless the operator says otherwise. */
export const DEFAULT_CONCURRENCY = 8;

/** What a run is about; all else takes no time worth a line. */
export type Phase = 'look' | 'apply' | 'verify';

/** Requests are held back, or one of them is to be sent again. */
export interface Wait {
  readonly waitMs: number;
  /** Clause for people: `the service answered 503`. */
  readonly why: string;
  /** What waits: `read flags`. */
  readonly what: string;
}

/** What long work tells while it goes on. Being told costs nothing that a run would notice, and never throws. */
export interface Progress {
  /** The phase before is over, and what is counted starts anew. */
  phase(phase: Phase): void;
  /** How much of the phase is done: objects looked at, steps sent. */
  count(done: number, total: number): void;
  waiting(wait: Wait): void;
  /** From now on the number of requests sent is this one, tries counted one by one. */
  requests(sent: () => number): void;
}

/** What the command line says about one run. */
export interface RunOptions {
  /** Names or ids; empty: all. */
  readonly environments: readonly string[];
  /** `KIND/NAME`; empty: all. */
  readonly only: readonly string[];
  readonly prune: boolean;
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Requests at the same time; absent: `DEFAULT_CONCURRENCY`. */
  readonly concurrency?: number | undefined;
  /** Write all identities, whatever is remembered of them. */
  readonly identities?: boolean;
  readonly allowOlder: boolean;
  /** The run applies a plan that was reviewed since a revision: HEAD may be behind what was applied, see `PlanPolicy.behind`. */
  readonly mayBeBehind?: boolean;
  /**
   * How the keys of segments that git did not change are compared: `listed` also where their number is the remembered
   * one, `counted` also where a list takes few requests. Default: whichever takes fewer requests.
   */
  readonly keys?: 'listed' | 'counted' | undefined;
  /** Look only at what was touched, where the memory of this process, or the state, knows enough of the rest; see `chooseScope`. */
  readonly touchedSince?: 'memory' | 'state' | undefined;
  /** Leave invalid objects, and what names them, as they are on the service, and go on with the rest. */
  readonly quarantineInvalid?: boolean;
  /** Only objects whose specs differ from this revision's are planned; the others are held back. */
  readonly since?: string | undefined;
  /** Why windows and freezes do not hold this run back; it is said in the comment of what they would have held. */
  readonly overrideWindow?: string | undefined;
  /** The plan with one of these hashes may go, whatever guards, windows and freezes say. */
  readonly approvals?: readonly Approval[] | undefined;
  /** By request; it holds back what `suspend: true` in the config does. */
  readonly suspend?: Suspension | undefined;
}

/**
 * Whether what a run remembers is shared over origin: never, where origin lets it (`auto`), or always, so that a run
 * which cannot share it fails.
 */
export type StateSharing = 'never' | 'auto' | 'always';

/** Who holds all writes but kills back. */
export interface Suspension {
  /** For people; untrusted where it came by request. */
  readonly reason: string;
  /** ISO 8601; null: until git says otherwise. */
  readonly until: string | null;
}

/** Leave for one plan. */
export interface Approval {
  readonly hash: string;
  /** Who gave it; untrusted where it came by request or from a comment. Absent: nobody said. */
  readonly by?: string | undefined;
  /** Name of the token that it was given with, where it came by request: `by` is what its holder says. */
  readonly token?: string | undefined;
  /** Name of the comment that it was read from; no other comment of any forge has it. Such an approval counts once. */
  readonly comment?: string | undefined;
}

/** How the comment of a write says that its plan was approved. */
export function approvalText({ hash, by, token }: Approval): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return `approved as ${hash}${who}${token === undefined ? '' : `, with the token "${token}"`}`;
}

/** An environment in which windows and freezes let no change pass now, but kills and what takes them back. */
export interface ClosedEnvironment {
  readonly environment: string;
  /** Clause for people: `frozen by "black-friday"`. */
  readonly why: string;
  /** When changes go again, ISO 8601 in UTC; null: nobody knows. */
  readonly until: string | null;
  /** The same as people read it, in a zone of theirs. */
  readonly untilText: string | null;
  /** Why changes go all the same in this run. Absent: they do not. */
  readonly override?: string;
}

/** What stands in the config. */
export const SUSPENDED_BY_CONFIG: Suspension = {
  reason: '`suspend: true` in flagkeel.yaml',
  until: null,
};

/** Whether a filter lets something through that goes by any of these names; an empty filter lets all through. */
export function isSelected(filter: readonly string[], names: readonly string[]): boolean {
  return filter.length === 0 || filter.some((each) => names.includes(each));
}
