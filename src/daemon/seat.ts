import type { Fence } from '../model/fence.js';
import type { CommitView, Hold, RunRecord, Trigger } from './view.js';

/** A run that has ended, as replicas tell each other of it. Plain data. */
export interface SharedRun {
  readonly run: RunRecord;
  /** The commit it was about. */
  readonly at: CommitView | null;
  /** In the order of application; absent where there was no plan. */
  readonly environments?: readonly string[];
}

export type Suspension = Hold & { readonly until: string };
export type Pin = Suspension & { readonly commit: string };

/** What is held back by request. */
export interface HoldState {
  readonly suspension: Suspension | null;
  readonly pin: Pin | null;
}

/** What a seat tells its source. None of it throws. */
export interface SeatEvents {
  /** From now on this replica keeps the source. */
  readonly onLead: () => void;
  readonly onLost: () => void;
  /** Somebody asked another replica. */
  readonly onTrigger: (trigger: Trigger) => void;
  /** Runs of other replicas, oldest first; each once. */
  readonly onRuns: (runs: readonly SharedRun[]) => void;
  /** How it stands, again and again. */
  readonly onHolds: (holds: HoldState) => void;
  /** Why the other replicas cannot be reached; null: they can. */
  readonly onTrouble: (why: string | null) => void;
}

/** The right to one run. */
export interface Turn {
  /** Aborted once the right is gone, or in doubt. */
  readonly signal: AbortSignal;
  /**
   * Absent: there is nobody else.
   *
   * @param seenAtMs when the source was looked at, by this process's steady clock.
   */
  readonly fence?: (seenAtMs: number) => Fence;
  /** Nobody knows whose turn it is, and everybody sends kills. */
  readonly killsOnly?: true;
  readonly end: () => void;
}

/** The place of one source among the replicas of a daemon: one of them sits on it and writes, the others wait. */
export interface Seat {
  /** Whether this replica is the one that writes, as far as it knows. */
  readonly isHeld: boolean;
  /** To be called once, before anything else. */
  attach(events: SeatEvents): void;
  /** Null: another replica's. */
  begin(): Turn | null;
  /** Brings a trigger to the replica that sits here. Returns at once. */
  forward(trigger: Trigger): void;
  /** Tells the others of a run of ours. Never rejects. */
  keep(run: SharedRun): Promise<void>;
  /** Tells the others what is held back: only the members that changed. Returns at once. */
  share(changed: Partial<HoldState>): void;
}

/** Of a daemon without replicas. */
export const ALONE: Seat = {
  isHeld: true,
  attach: () => undefined,
  begin: () => ({ signal: new AbortController().signal, end: () => undefined }),
  forward: () => undefined,
  keep: async () => Promise.resolve(),
  share: () => undefined,
};
