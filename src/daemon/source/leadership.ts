import type { Fence } from '../../model/run.js';
import type { CommitView, Override, RunRecord, Trigger } from '../view.js';
import type { SeenFlags } from './live-flags.js';

/** A run that has ended, as replicas tell each other of it. Plain data. */
export interface SharedRun {
  readonly run: RunRecord;
  /** The commit it was about. */
  readonly at: CommitView | null;
  /** In the order of application; absent where there was no plan. */
  readonly environments?: readonly string[];
  /** `suspend: true` in the config; absent where there was no plan. */
  readonly suspendedByConfig?: boolean;
  /** Absent: they are as the run before left them. */
  readonly flags?: readonly SeenFlags[];
}

export type Suspension = Override & { readonly until: string };
export type Pin = Suspension & { readonly commit: string };
/** Leave for the plan with this hash and no other, until a run has used it or found another plan. */
export type Approval = Suspension & {
  readonly hash: string;
  /** Who gave it, by their own word; untrusted text of one line. */
  readonly by: string;
  /** Name of the token that it was given with. */
  readonly token?: string;
};

/** What operators have asked for and what has not expired; null: nothing. */
export interface ActiveOverrides {
  readonly suspension: Suspension | null;
  readonly pin: Pin | null;
  readonly approval: Approval | null;
}

export const NOTHING_HELD: ActiveOverrides = {
  suspension: null,
  pin: null,
  approval: null,
};

/** What the election tells its source. None of it throws. */
export interface LeadershipEvents {
  /** From now on this replica keeps the source. */
  readonly onLead: () => void;
  readonly onLost: () => void;
  /** Somebody asked another replica. */
  readonly onTrigger: (trigger: Trigger) => void;
  /** Runs of other replicas, oldest first; each once. */
  readonly onRuns: (runs: readonly SharedRun[]) => void;
  /** Called with the current overrides on every poll of the database, also where nothing changed. */
  readonly onOverrides: (overrides: ActiveOverrides) => void;
  /** Why the other replicas cannot be reached; null: they can. */
  readonly onTrouble: (why: string | null) => void;
}

/** The right to one run. */
export interface RunPermit {
  /** Aborted once the right is gone, or in doubt. */
  readonly signal: AbortSignal;
  /**
   * Makes the check that each write has to pass. Absent where no other replica could write.
   *
   * @param seenAtMs when the source was looked at, by this process's steady clock.
   */
  readonly fence?: (seenAtMs: number) => Fence;
  /** Set while the database cannot tell which replica leads: every replica sends kills then, and nothing else. */
  readonly killsOnly?: true;
  readonly end: () => void;
}

/** The part of this replica in keeping one source: one replica leads and writes, the others wait. */
export interface Leadership {
  /** Whether this replica is the one that writes, as far as it knows. */
  readonly isLeader: boolean;
  /** To be called once, before anything else. */
  attach(events: LeadershipEvents): void;
  /** Asks for the right to a run now; null where another replica has it. */
  begin(): RunPermit | null;
  /** Brings a trigger to the replica that leads. Returns at once and never throws. */
  forward(trigger: Trigger): void;
  /** Tells the other replicas of a run of this one. Never rejects. */
  keep(run: SharedRun): Promise<void>;
  /** Tells the other replicas what operators asked for: only the members that changed. Returns at once. */
  share(changed: Partial<ActiveOverrides>): void;
}

/** The leadership of a daemon without replicas: it always leads. */
export const ALONE: Leadership = {
  isLeader: true,
  attach: () => undefined,
  begin: () => ({ signal: new AbortController().signal, end: () => undefined }),
  forward: () => undefined,
  keep: async () => Promise.resolve(),
  share: () => undefined,
};
